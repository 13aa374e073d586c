/** Refs of similar popularity. */
export interface Stratum {
  readonly refs: number;
  /** Per ref. */
  readonly followers: number;
  /** Share of all actions that belong to its refs. */
  readonly actionShare: number;
}

export interface PopularityOptions {
  readonly members: number;
  /** Average follows per member. */
  readonly follows: number;
  readonly refs: number;
  /** Zipf exponent: the n-th ref has 1/n^exponent of the first one's followers. */
  readonly exponent: number;
  /** The same for actions: popular refs have more of them. 0: all refs have equally many. */
  readonly activityExponent: number;
}

/** The first refs have a stratum each; after them, strata grow by this factor. */
const EXACT = 200;
const GROWTH = 1.05;
const HALVINGS = 100;

/**
 * Distributes follows and actions over refs by Zipf's law, in some hundred strata, so that a hundred million refs take as
 * long as a thousand. No ref has more followers than there are members; the excess goes to the others.
 */
export function popularity(options: PopularityOptions): readonly Stratum[] {
  const { members, follows, refs, exponent, activityExponent } = options;
  const edges = edgesUpTo(refs);
  const weights = edges.map(({ from, to }) => powerSum(from, to, exponent) / (to - from));
  const total = members * follows;
  const scale = scaleFor(
    (factor) =>
      edges.reduce(
        (sum, { from, to }, index) => sum + (to - from) * Math.min(members, factor * (weights[index] ?? 0)),
        0,
      ),
    total,
  );
  const activity = edges.map(({ from, to }) => powerSum(from, to, activityExponent));
  const allActivity = activity.reduce((sum, value) => sum + value, 0);
  return edges.map(({ from, to }, index) => ({
    refs: to - from,
    followers: Math.min(members, scale * (weights[index] ?? 0)),
    actionShare: (activity[index] ?? 0) / allActivity,
  }));
}

export function sumOf(strata: readonly Stratum[], of: (stratum: Stratum) => number): number {
  return strata.reduce((sum, stratum) => sum + of(stratum), 0);
}

/** Ranks from the first, inclusive, to the last, exclusive. */
function edgesUpTo(refs: number): { readonly from: number; readonly to: number }[] {
  const edges = [];
  for (let from = 1; from <= refs;) {
    const to = from < EXACT ? from + 1 : Math.min(refs + 1, Math.ceil(from * GROWTH));
    edges.push({ from, to });
    from = to;
  }
  return edges;
}

/** Sum of 1/rank^exponent over the ranks; approximated by the integral for many of them. */
function powerSum(from: number, to: number, exponent: number): number {
  if (to - from === 1) return from ** -exponent;
  const [low, high] = [from - 0.5, to - 0.5];
  return exponent === 1
    ? Math.log(high / low)
    : (high ** (1 - exponent) - low ** (1 - exponent)) / (1 - exponent);
}

/** The factor for which a monotonic sum equals the total, or comes closest. */
function scaleFor(sumWith: (factor: number) => number, total: number): number {
  let high = 1;
  for (let n = 0; n < HALVINGS && sumWith(high) < total; n += 1) high *= 2;
  let low = 0;
  for (let n = 0; n < HALVINGS; n += 1) {
    const middle = (low + high) / 2;
    if (sumWith(middle) < total) low = middle;
    else high = middle;
  }
  return high;
}
