import type { Scope, UserId } from './action.ts';

export function teamKey(teamId: string): string {
  return `team:${teamId}`;
}

export function departmentKey(departmentId: string): string {
  return `department:${departmentId}`;
}

export function userKey(userId: UserId): string {
  return `user:${userId}`;
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
