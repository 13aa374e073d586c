import type { z } from 'zod';
import { FanfareError, type InputIssue } from '../domain/errors.ts';
import type { UserId } from '../domain/action.ts';
import { areBeside } from '../domain/stored-id.ts';
import type { Identity, Role } from '../domain/viewer.ts';

/** Validates a whole input. @throws FanfareError BAD_USER_INPUT listing every fault and its location. */
export function validate<T>(
  schema: z.ZodType<T>,
  value: unknown,
  path: readonly (string | number)[] = [],
): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.map((issue) => ({
    path: [...path, ...issue.path.filter((part) => typeof part !== 'symbol')],
    message: issue.message,
  }));
  throw new FanfareError('BAD_USER_INPUT', summaryOf(issues), { issues });
}

/** The first faults in words, each with its location. */
export function summaryOf(issues: readonly InputIssue[]): string {
  return issues
    .slice(0, 5)
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
    .join('; ');
}

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
  if (!areBeside(identity.userId, actorId))
    throw new FanfareError('FORBIDDEN', `To ${what} for another tenant is not possible`);
  return { userId: actorId, roles: new Set<Role>(['user']), expiresAt: identity.expiresAt };
}
