import type { Action, ConcernedKey } from './action.ts';
import { userKey } from './audience.ts';

/** What says whom an action concerns. */
export type ConcerningAction = Pick<Action, 'mentions' | 'recipients' | 'audience' | 'concerned'>;

/** The people and departments an action concerns for what it says, by key, and from when on, in milliseconds. */
export function concernedSince(action: ConcerningAction): ReadonlyMap<string, number> {
  const { concerned } = action;
  if (concerned === null) return new Map(namedKeys(action).map((key) => [key, -Infinity]));
  return new Map(concerned.map(({ key, since }) => [key, since?.getTime() ?? -Infinity]));
}

/**
 * Whom an action concerns after an edit. Whom it names now and did not before, from then on: what was done earlier does
 * not lift it for them. Whom it does not name any more, as before: where it has its place it stays.
 */
export function concernedAfter(
  before: ConcerningAction,
  after: Omit<ConcerningAction, 'concerned'>,
  at: Date,
): readonly ConcernedKey[] | null {
  const earlier = before.concerned ?? namedKeys(before).map((key): ConcernedKey => ({ key, since: null }));
  const known = new Set(earlier.map(({ key }) => key));
  const now = namedKeys(after);
  const added = now.filter((key) => !known.has(key));
  const isSame = added.length === 0 && known.size === now.length;
  if (isSame && before.concerned === null) return null;
  return [...earlier, ...added.map((key) => ({ key, since: at }))];
}

function namedKeys({ mentions, recipients, audience }: Omit<ConcerningAction, 'concerned'>): string[] {
  return [...new Set([...[...mentions, ...recipients].map(userKey), ...audience.filter(isConcerning)])];
}

/** Teams, followers and everybody are an audience, and not concerned. */
function isConcerning(key: string): boolean {
  return key.startsWith('user:') || key.startsWith('department:');
}
