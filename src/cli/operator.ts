import type { Identity } from '../domain/viewer.ts';

/** Who types a command: an admin, since they have the databases. */
export function operatorOf(command: string): Identity {
  return { userId: command, roles: new Set(['admin']), expiresAt: null };
}
