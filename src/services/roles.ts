import type { UserId } from '../domain/action.ts';
import { FanfareError } from '../domain/errors.ts';
import { areOfOneTenant } from '../domain/tenant.ts';
import type { Identity, Role } from '../domain/viewer.ts';

/** @throws FanfareError FORBIDDEN */
export function requireRole(identity: Identity, role: Role): void {
  if (!identity.roles.has(role)) throw new FanfareError('FORBIDDEN', `This requires the role ${role}`);
}

/** @throws FanfareError FORBIDDEN */
export function requireOneOf(identity: Identity, roles: readonly Role[]): void {
  if (!roles.some((role) => identity.roles.has(role)))
    throw new FanfareError('FORBIDDEN', `This requires one of the roles ${roles.join(', ')}`);
}

/**
 * The identity whose rights apply when a caller names an actor. A service gets exactly the rights of the member it acts for;
 * a caller acting for themselves keeps their own.
 * @throws FanfareError FORBIDDEN for another actor without the role service
 */
export function actingAs(identity: Identity, actorId: UserId, what: string): Identity {
  if (actorId === identity.userId) return identity;
  if (!identity.roles.has('service'))
    throw new FanfareError('FORBIDDEN', `To ${what} for another actor requires the role service`);
  if (!areOfOneTenant(identity.userId, actorId))
    throw new FanfareError('FORBIDDEN', `To ${what} for another tenant is not possible`);
  return { userId: actorId, roles: new Set<Role>(['user']), expiresAt: identity.expiresAt };
}
