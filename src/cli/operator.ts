import type { Identity } from '../domain/viewer.ts';

/** A user of commands is an admin, since they have access to the databases. */
export function operatorOf(command: string): Identity {
  return { userId: command, roles: new Set(['admin']), expiresAt: null };
}
