import { popularity, sumOf, type Stratum } from './popularity.ts';
import type { Workload } from './workload.ts';

/** Operations per second in the busiest hour. */
export interface Operations {
  readonly actions: number;
  readonly deliveries: number;
  readonly pages: number;
  /** Among them, those of readers who have put away, muted, blocked or filter for much. */
  readonly marked: number;
  /** Pages of notifications. */
  readonly notifications: number;
  readonly events: number;
  /** Workers' queries for watchers of pulled actions, one per 500 watchers. */
  readonly watcherQueries: number;
}

/** The part of an installation that is pulled at read time. */
export interface Pulled {
  readonly refs: number;
  /** Share of all actions. */
  readonly actionShare: number;
  /** Average number of pulled refs a reader follows, and share of readers who follow at least one. */
  readonly followed: number;
  readonly readerShare: number;
}

export const DAY_SECONDS = 86_400;
/** Watchers per query, as in `fan-out/deliver.ts`. */
const LOOKED_AT_ONCE = 500;
/** Exponent by which popular refs have more actions. */
const ACTIVITY = 0.5;

export function strataOf({ members, refs, follows, zipf }: Workload): readonly Stratum[] {
  return popularity({ members, refs, follows, exponent: zipf, activityExponent: ACTIVITY });
}

export function pulledBy(strata: readonly Stratum[], members: number, threshold: number): Pulled {
  const above = strata.filter(({ followers }) => followers > threshold);
  // Follows of different refs are assumed to be independent.
  const none = sumOf(above, ({ refs, followers }) =>
    followers >= members ? -Infinity : refs * Math.log1p(-followers / members),
  );
  return {
    refs: sumOf(above, ({ refs }) => refs),
    actionShare: sumOf(above, ({ actionShare }) => actionShare),
    followed: sumOf(above, ({ refs, followers }) => refs * (followers / members)),
    readerShare: 1 - Math.exp(none),
  };
}

/** Actions of refs with at most so many followers are pushed. */
export function pushedUpTo({ model, threshold }: Pick<Workload, 'model' | 'threshold'>): number {
  return model === 'pull' ? 0 : threshold;
}

export function operationsOf(workload: Workload, strata: readonly Stratum[]): Operations {
  const { members, readers, actions, reads, marking, notifications, peak, watching } = workload;
  const threshold = pushedUpTo(workload);
  const atPeak = (aDay: number): number => (aDay / DAY_SECONDS) * peak;
  const reached = sumOf(strata, ({ actionShare, followers }) => actionShare * followers);
  const pushed = sumOf(strata, ({ actionShare, followers }) =>
    followers > threshold ? 0 : actionShare * followers,
  );
  const watchers = readers * watching;
  const { actionShare } = pulledBy(strata, members, threshold);
  return {
    actions: atPeak(actions),
    deliveries: atPeak(actions) * pushed,
    pages: atPeak(reads),
    marked: atPeak(reads * marking),
    notifications: atPeak(notifications),
    events: (atPeak(actions) * reached * watchers) / members,
    watcherQueries: (atPeak(actions) * actionShare * watchers) / LOOKED_AT_ONCE,
  };
}
