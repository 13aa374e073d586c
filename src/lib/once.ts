/** Calls the function until it succeeds, then returns that result for ever. */
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
