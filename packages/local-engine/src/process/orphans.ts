import { existsSync, readFileSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { identify, isAlive } from './identity.ts';
import type { ProcessIdentity } from './identity.ts';
import { waitUntil } from './wait-until.ts';

/** How long what lost its parent may take to notice, in milliseconds. */
const NOTICE_WITHIN_MS = 3_000;

/**
 * Ends the processes that a dead service left: those that work in its folder and whose command line begins with
 * `title`. They usually notice on their own and are given time for it. Where there is no /proc nothing is found, and
 * the service itself must refuse to start beside them.
 */
export async function endOrphans(title: string, folder: string): Promise<void> {
  const found = findOrphans(title, folder);
  const areGone = (): boolean => found.every((orphan) => !isAlive(orphan));
  if (await waitUntil(areGone, NOTICE_WITHIN_MS)) return;
  for (const orphan of found) kill(orphan);
  await waitUntil(areGone, NOTICE_WITHIN_MS);
}

function findOrphans(title: string, folder: string): readonly ProcessIdentity[] {
  if (process.platform !== 'linux' || !existsSync(folder)) return [];
  const workplace = realpathSync(folder);
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const isOne =
          readFileSync(`/proc/${name}/cmdline`, 'utf8').startsWith(title) &&
          readlinkSync(`/proc/${name}/cwd`) === workplace;
        return isOne ? (identify(Number(name)) ?? []) : [];
      } catch {
        return []; // It has ended meanwhile, or is another user's.
      }
    });
}

function kill(orphan: ProcessIdentity): void {
  try {
    if (isAlive(orphan)) process.kill(orphan.pid, 'SIGKILL');
  } catch (error) {
    // It went in between.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
