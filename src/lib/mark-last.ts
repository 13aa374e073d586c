/** Passes values on and says which is the last one: each is handed out when the next has come, or none has. */
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
