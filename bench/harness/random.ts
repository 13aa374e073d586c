/** Numbers from 0 to 1 that are the same in every run (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Ranks from 0, the first the most likely: rank r has a weight of 1 / (r + 1). */
export function zipf(count: number): (random: number) => number {
  const sums: number[] = [];
  let sum = 0;
  for (let rank = 0; rank < count; rank++) sums.push((sum += 1 / (rank + 1)));
  return (random) => sums.findIndex((one) => one >= random * sum);
}
