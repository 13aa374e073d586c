import type { Action } from './action.ts';
import { reachesFollowers } from './audience.ts';

/** The fields of an action that an edit may change, with their new values. */
export type ActionContent = Pick<
  Action,
  | 'scope'
  | 'audience'
  | 'mentions'
  | 'recipients'
  | 'refs'
  | 'givenRefs'
  | 'refIds'
  | 'descriptor'
  | 'unnamed'
  | 'expiresAt'
> & {
  /** A scheduled action's time to be published. Absent: it is published. */
  readonly publishAt?: Date;
};

type Addressed = Pick<Action, 'scope' | 'audience' | 'mentions' | 'recipients' | 'refIds'>;

/** Whether an edit changes the audience of an action or the reasons for delivering it. */
export function isAudienceChanged(before: Addressed, after: Addressed): boolean {
  return (
    before.scope !== after.scope ||
    (['audience', 'mentions', 'recipients', 'refIds'] as const).some(
      (field) => hasLost(before[field], after[field]) || hasLost(after[field], before[field]),
    )
  );
}

/** Whether an edit may take the action away from a reader it was addressed to. */
export function mayLoseReaders(
  before: Addressed & { readonly reshares: Action['reshares'] },
  after: Addressed,
): boolean {
  return (
    (before.reshares.length > 0 && before.scope === 'PUBLIC' && after.scope !== 'PUBLIC') ||
    hasLost(before.audience, after.audience) ||
    (reachesFollowers(before) && (!reachesFollowers(after) || hasLost(before.refIds, after.refIds)))
  );
}

function hasLost(before: readonly string[], after: readonly string[]): boolean {
  const kept = new Set(after);
  return before.some((id) => !kept.has(id));
}
