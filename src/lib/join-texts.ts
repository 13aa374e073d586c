/** Merges adjacent strings into one part. */
export function joinTexts<T>(parts: Iterable<string | T>): (string | T)[] {
  const joined: (string | T)[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (typeof last === 'string' && typeof part === 'string') joined[joined.length - 1] = last + part;
    else joined.push(part);
  }
  return joined;
}
