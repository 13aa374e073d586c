export interface Workload {
  readonly members: number;
  /** People who read on a day. */
  readonly readers: number;
  readonly refs: number;
  /** Follows of a member, on average. */
  readonly follows: number;
  /** How unequal refs are: the n-th has 1/n^zipf of the followers of the first. */
  readonly zipf: number;
  /** Actions and pages of a day, by everybody together. */
  readonly actions: number;
  readonly reads: number;
  /** How many times the average of a day the busiest hour has. */
  readonly peak: number;
  /** Of the day's readers, how many watch in the busiest hour. */
  readonly watching: number;
  readonly model: string;
  readonly threshold: number;
  /** Entries that are stored of a feed. */
  readonly cap: number;
  /** For how long actions are kept. */
  readonly days: number;
  /** Of a machine. */
  readonly cores: number;
  /** Worker processes; null: as many as suffice. */
  readonly workers: number | null;
  /** Actions that come at one moment, beside the others. */
  readonly burst: number;
  readonly seed: number;
}

/** What is given on the command line. Everything but the members has a usual value. */
export type GivenWorkload = Partial<Workload> & Pick<Workload, 'members'>;

/** A small network of people: three of ten look on a day, ten pages each; one of ten does something. */
export function workloadOf(given: GivenWorkload): Workload {
  const { members } = given;
  const readers = given.readers ?? Math.ceil(members * 0.3);
  return {
    ...{ readers, refs: members, follows: 50, zipf: 1 },
    ...{ actions: Math.ceil(members * 0.1), reads: readers * 10, peak: 3, watching: 0.1 },
    ...{
      model: 'items',
      threshold: 10_000,
      cap: 1_000,
      days: 365,
      cores: 8,
      workers: null,
      burst: 0,
      seed: 1,
    },
    ...given,
  };
}
