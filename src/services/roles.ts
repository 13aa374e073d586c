import { FanfareError } from '../domain/errors.ts';
import type { Identity, Role } from '../domain/viewer.ts';

/** @throws FanfareError FORBIDDEN */
export function requireRole(identity: Identity, role: Role): void {
  if (!identity.roles.has(role)) throw new FanfareError('FORBIDDEN', `This needs the role ${role}`);
}
