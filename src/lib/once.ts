/** Calls a function until it has succeeded once, and gives its result from then on. */
export function once<T>(get: () => Promise<T>): () => Promise<T> {
  let got: Promise<T> | null = null;
  return () => {
    if (got !== null) return got;
    const attempt = get();
    got = attempt;
    attempt.catch(() => {
      got = null;
    });
    return attempt;
  };
}
