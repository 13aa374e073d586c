export interface Workload {
  readonly members: number;
  /** People who read on a given day. */
  readonly readers: number;
  readonly refs: number;
  /** Average follows per member. */
  readonly follows: number;
  /** Inequality of refs: the n-th has 1/n^zipf of the first one's followers. */
  readonly zipf: number;
  /** Actions and pages per day in total. */
  readonly actions: number;
  readonly reads: number;
  /** Pages of notifications per day in total. */
  readonly notifications: number;
  /** Share of the pages that are asked for by readers who have put away, muted, blocked or filter for much. */
  readonly marking: number;
  /** Ratio of the busiest hour to the day's average. */
  readonly peak: number;
  /** Share of the day's readers who watch in the busiest hour. */
  readonly watching: number;
  readonly model: string;
  readonly threshold: number;
  /** Stored entries per feed. */
  readonly cap: number;
  /** How long actions are kept. */
  readonly days: number;
  /** Per machine. */
  readonly cores: number;
  /** Worker processes; `null`: as many as suffice. */
  readonly workers: number | null;
  /** Additional actions arriving at one moment. */
  readonly burst: number;
  readonly seed: number;
}

/** Command line values. Everything except the members has a default. */
export type GivenWorkload = Partial<Workload> & Pick<Workload, 'members'>;

/** A small social network: three of ten members read per day, ten pages each, and look at their notifications twice; one of ten is active. */
export function workloadOf(given: GivenWorkload): Workload {
  const { members } = given;
  const readers = given.readers ?? Math.ceil(members * 0.3);
  return {
    ...{ readers, refs: members, follows: 50, zipf: 1 },
    ...{ actions: Math.ceil(members * 0.1), reads: readers * 10, notifications: readers * 2 },
    ...{ marking: 0, peak: 3, watching: 0.1 },
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
