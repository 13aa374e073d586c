import type { Action, ConcernedKey, UserId } from './action.ts';
import { userKey } from './audience.ts';

export type ConcerningAction = Pick<Action, 'mentions' | 'recipients' | 'audience' | 'concerned'>;

/** The people and departments an action concerns for what it says, by key, and from when on, in milliseconds. */
export function concernedSince(action: ConcerningAction): ReadonlyMap<string, number> {
  const { concerned } = action;
  if (concerned === null) return new Map(namedKeys(action).map((key) => [key, -Infinity]));
  return new Map(concerned.map(({ key, since }) => [key, since?.getTime() ?? -Infinity]));
}

/** Whom an action concerns at first; null: whom it names. @param declared whom its descriptor concerns. */
export function concernedAtFirst(
  action: Omit<ConcerningAction, 'concerned'>,
  declared: readonly UserId[],
): readonly ConcernedKey[] | null {
  const named = namedKeys(action);
  const others = declared.map(userKey).filter((key) => !named.includes(key));
  return others.length === 0 ? null : [...named, ...others].map((key) => ({ key, since: null }));
}

/**
 * Whom an action concerns after an edit. Whom it names now and did not before, from then on: what was done earlier does
 * not lift it for them. Whom it does not name any more, as before: where it has its place it stays.
 * @param declared people whom its descriptor concerns then.
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

/** Teams, followers and everybody are an audience, and not concerned. */
function isConcerning(key: string): boolean {
  return key.startsWith('user:') || key.startsWith('department:');
}
