import type { Action, ConcernedKey, UserId } from './action.ts';
import { userKey } from './audience.ts';

export type ConcerningAction = Pick<Action, 'mentions' | 'recipients' | 'audience' | 'concerned'>;

/** The people and departments an action concerns, by audience key, with the time in milliseconds since when it does. */
export function concernedSince(action: ConcerningAction): ReadonlyMap<string, number> {
  const { concerned } = action;
  if (concerned === null) return new Map(namedKeys(action).map((key) => [key, -Infinity]));
  return new Map(concerned.map(({ key, since }) => [key, since?.getTime() ?? -Infinity]));
}

/** Concerned keys at publication; `null`: exactly those the action names. @param declared users named by its descriptor. */
export function concernedAtFirst(
  action: Omit<ConcerningAction, 'concerned'>,
  declared: readonly UserId[],
): readonly ConcernedKey[] | null {
  const named = namedKeys(action);
  const others = declared.map(userKey).filter((key) => !named.includes(key));
  return others.length === 0 ? null : [...named, ...others].map((key) => ({ key, since: null }));
}

/**
 * Concerned keys after an edit. A key that the edit adds counts from the time of the edit: older interactions do not bump
 * the action for it. A key that the edit removes stays, so that the item keeps its place in that reader's feed.
 * @param declared users named by the descriptor after the edit.
 */
export function concernedAfter(
  before: ConcerningAction,
  after: Omit<ConcerningAction, 'concerned'>,
  at: Date,
  declared: readonly UserId[],
): readonly ConcernedKey[] | null {
  const earlier = before.concerned ?? namedKeys(before).map((key): ConcernedKey => ({ key, since: null }));
  const known = new Set(earlier.map(({ key }) => key));
  const now = [...new Set([...namedKeys(after), ...declared.map(userKey)])];
  const added = now.filter((key) => !known.has(key));
  const isSame = added.length === 0 && known.size === now.length;
  if (isSame && before.concerned === null) return null;
  return [...earlier, ...added.map((key) => ({ key, since: at }))];
}

function namedKeys({ mentions, recipients, audience }: Omit<ConcerningAction, 'concerned'>): string[] {
  return [...new Set([...[...mentions, ...recipients].map(userKey), ...audience.filter(isConcerning)])];
}

/** Teams, followers and the public are an audience, but not concerned. */
function isConcerning(key: string): boolean {
  return key.startsWith('user:') || key.startsWith('department:');
}
