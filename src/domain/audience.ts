import type { Scope, UserId, Action, ConcernedKey, FormerlyConcernedKey } from './action.ts';

export function teamKey(teamId: string): string {
  return `team:${teamId}`;
}

export function departmentKey(departmentId: string): string {
  return `department:${departmentId}`;
}

export function userKey(userId: UserId): string {
  return `user:${userId}`;
}

/** The key of a member whom the descriptor says to notify. Reaches nobody's feed. */
export function notifiedKey(userId: UserId): string {
  return `notified:${userId}`;
}

const USER = userKey('');
const NOTIFIED = notifiedKey('');

/** Members whom these keys name, and whether a descriptor says to notify them. */
export function namedBy(audience: readonly string[]): ReadonlyMap<UserId, boolean> {
  const named = new Map<UserId, boolean>();
  for (const key of audience)
    if (key.startsWith(NOTIFIED)) named.set(key.slice(NOTIFIED.length), true);
    else if (key.startsWith(USER) && !named.has(key.slice(USER.length)))
      named.set(key.slice(USER.length), false);
  return named;
}

export const FOLLOWERS_KEY = 'followers';
export const PUBLIC_KEY = 'public';

/** The actor's team or department at publication, depending on the scope; `null` when the actor has none. */
export function scopeKey(
  scope: Scope,
  actor: { readonly teamId: string | null; readonly departmentId: string | null } | null,
): string | null {
  switch (scope) {
    case 'TEAM':
      return actor?.teamId == null ? null : teamKey(actor.teamId);
    case 'DEPARTMENT':
      return actor?.departmentId == null ? null : departmentKey(actor.departmentId);
    case 'FOLLOWERS':
      return FOLLOWERS_KEY;
    case 'PUBLIC':
      return PUBLIC_KEY;
    case 'RESTRICTED':
      return null;
  }
}

export function reachesFollowers(action: { readonly scope: Scope }): boolean {
  return action.scope === 'FOLLOWERS' || action.scope === 'PUBLIC';
}

type Naming = Pick<Action, 'mentions' | 'recipients' | 'audience'>;

/** The members whom an action concerns and concerned. */
export interface Concerned {
  readonly concerned: readonly ConcernedKey[] | null;
  readonly formerlyConcerned: readonly FormerlyConcernedKey[];
}
export type ConcerningAction = Naming & Concerned;

/** The people and departments an action concerns, by audience key, with the time in milliseconds since when it does. */
export function concernedSince(action: ConcerningAction): ReadonlyMap<string, number> {
  return new Map(concernedNow(action).map(({ key, since }) => [key, since?.getTime() ?? -Infinity]));
}

/** The members it concerned before an edit, with the time in milliseconds until when it did. */
export function concernedUntil({ formerlyConcerned }: Concerned): ReadonlyMap<string, number> {
  return new Map(formerlyConcerned.map(({ key, until }) => [key, until.getTime()]));
}

/** Concerned keys at publication; `null`: exactly those the action names. @param declared users named by its descriptor. */
export function concernedAtFirst(
  action: Naming,
  declared: readonly UserId[],
): readonly ConcernedKey[] | null {
  const named = namedKeys(action);
  const others = declared.map(userKey).filter((key) => !named.includes(key));
  return others.length === 0 ? null : [...named, ...others].map((key) => ({ key, since: null }));
}

/**
 * The members whom an action concerns after an edit. A key that the edit adds counts from the time of the edit: older interactions do not
 * bump the action for it. A key that the edit removes does not count for later interactions, and keeps what it has by the
 * earlier ones, so that the item stays at its position in that reader's feed.
 * @param declared users named by the descriptor after the edit.
 */
export function concernedAfter(
  before: ConcerningAction & { readonly isBumped: boolean; readonly latest: Date },
  after: Naming,
  at: Date,
  declared: readonly UserId[],
): Concerned {
  const earlier = new Map(concernedNow(before).map((one) => [one.key, one]));
  const now = [...new Set([...namedKeys(after), ...declared.map(userKey)])];
  const named = new Set(now);
  const ended = [...earlier.values()].filter(({ key }) => !named.has(key));
  const isSame = ended.length === 0 && earlier.size === now.length;
  if (isSame) return before;
  return {
    concerned: now.map((key) => earlier.get(key) ?? { key, since: at }),
    formerlyConcerned: before.isBumped
      ? ended.reduce((former, one) => withEnded(former, one, before.latest), before.formerlyConcerned)
      : before.formerlyConcerned,
  };
}

/** A key concerned only since after the latest interaction has nothing to keep. */
function withEnded(
  former: readonly FormerlyConcernedKey[],
  { key, since }: ConcernedKey,
  latest: Date,
): readonly FormerlyConcernedKey[] {
  if (since !== null && since.getTime() > latest.getTime()) return former;
  return [...former.filter((one) => one.key !== key), { key, until: latest }];
}

function concernedNow({ concerned, ...action }: ConcerningAction): readonly ConcernedKey[] {
  return concerned ?? namedKeys(action).map((key) => ({ key, since: null }));
}

function namedKeys({ mentions, recipients, audience }: Naming): string[] {
  return [...new Set([...[...mentions, ...recipients].map(userKey), ...audience.filter(isConcerning)])];
}

/** Teams, followers and the public are an audience, but not concerned. */
function isConcerning(key: string): boolean {
  return key.startsWith('user:') || key.startsWith('department:');
}
