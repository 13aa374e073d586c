import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { needExecutable } from './executables.ts';
import { runCommand } from './run-command.ts';

/**
 * Who the services run as when we are root. The numbers belong to nobody on a usual system, need no entry in its user
 * list, and fit into the 65,536 ids of a user namespace. Each has its own, so that none can reach what another has.
 */
export const SERVICE_UIDS = { postgres: 59432, redis: 59433, mongod: 59434 } as const;

/** The folder a process works in, as it can name it itself whatever lies above. */
export const HERE = process.platform === 'linux' ? '/proc/self/cwd' : '.';

/** Gives a folder and all in it to a user. Only root can give files away, and only root needs to. */
export async function giveTo(uid: number, folder: string, path: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  await runCommand({
    command: needExecutable('chown', path),
    args: ['-R', '-h', `${uid}:${uid}`, folder],
  });
}

/** Whether the users of services can reach and run the file, or pass the folder. As anybody but root we run them ourselves. */
export function servicesCanReach(file: string): boolean {
  if (process.getuid?.() !== 0) return true;
  for (let path = resolve(file); ; path = dirname(path)) {
    const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
    if ((mode & 0o001) === 0) return false;
    if (dirname(path) === path) return true;
  }
}
