/** Passes values on with a flag for the last one. Each value waits until the next one or the end arrives. */
export async function* markLast<T>(
  source: AsyncIterable<T>,
): AsyncGenerator<{ readonly value: T; readonly isLast: boolean }, void, undefined> {
  let before: { readonly value: T } | null = null;
  for await (const value of source) {
    if (before !== null) yield { value: before.value, isLast: false };
    before = { value };
  }
  if (before !== null) yield { value: before.value, isLast: true };
}
