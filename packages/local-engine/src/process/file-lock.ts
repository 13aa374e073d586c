import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive, ownIdentity } from './identity.ts';
import type { ProcessIdentity } from './identity.ts';
import { makeFolder } from './make-folder.ts';

/** An acquired lock. Releasing it twice is harmless. */
export interface FileLock extends Disposable {
  readonly path: string;
}

interface LockRecord extends ProcessIdentity {
  readonly token: string;
}

/** How long a file may be empty (created, not yet written) or a take-over may last before it counts as abandoned. */
const ABANDONED_AFTER_MS = 5_000;
const POLL_MS = 50;

/**
 * Takes the lock, or tells who has it. A lock belongs to a process and ends with it, however it ends: what a dead
 * process left is taken over, and of several that try this at once one succeeds. Processes of different containers do
 * not see each other, so the file must not be shared between those.
 */
export function tryLock(
  path: string,
): { readonly lock: FileLock } | { readonly holder: ProcessIdentity | null } {
  const mine: LockRecord = { ...ownIdentity(), token: randomUUID() };
  makeFolder(dirname(path));
  for (let attempt = 0; attempt < 3; attempt++) {
    if (create(path, mine))
      return { lock: { path, [Symbol.dispose]: () => removeIfHeldBy(path, mine.token) } };
    const found = read(path);
    if (found === 'gone') continue;
    if (found === 'unreadable' && ageOf(path) < ABANDONED_AFTER_MS) return { holder: null };
    if (found !== 'unreadable' && isAlive(found)) return { holder: found };
    if (!clearStale(path, found)) return { holder: null };
  }
  return { holder: null };
}

/** Waits until the lock is free and takes it. `onWait` is called once, with the holder, if it has to wait. */
export async function lockWhenFree(
  path: string,
  onWait: (holder: ProcessIdentity | null) => void,
): Promise<FileLock> {
  let notified = false;
  for (;;) {
    const attempt = tryLock(path);
    if ('lock' in attempt) return attempt.lock;
    if (!notified) onWait(attempt.holder);
    notified = true;
    await delay(POLL_MS);
  }
}

function create(path: string, record: LockRecord): boolean {
  try {
    writeFileSync(path, JSON.stringify(record), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

function read(path: string): LockRecord | 'gone' | 'unreadable' {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 'gone';
    throw error;
  }
  try {
    const record = JSON.parse(text) as Partial<LockRecord> | null;
    const { pid, started, token } = record ?? {};
    if (pid === undefined || started === undefined || token === undefined) return 'unreadable';
    return { pid, started, token };
  } catch {
    return 'unreadable';
  }
}

/**
 * Removes a lock whose process is dead. Between the look and the removal another process may have done the same and
 * taken the lock, so removers take turns (a folder is the turn) and look again. False when it is another's turn.
 */
function clearStale(path: string, stale: LockRecord | 'unreadable'): boolean {
  const turn = `${path}.takeover`;
  try {
    mkdirSync(turn);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    if (ageOf(turn) > ABANDONED_AFTER_MS) rmSync(turn, { recursive: true, force: true });
    return false;
  }
  try {
    const now = read(path);
    if (now === 'gone') return true;
    const same =
      now === 'unreadable' ? stale === 'unreadable' : stale !== 'unreadable' && now.token === stale.token;
    if (same) rmSync(path, { force: true });
    return true;
  } finally {
    rmdirSync(turn);
  }
}

function removeIfHeldBy(path: string, token: string): void {
  const found = read(path);
  if (found !== 'gone' && found !== 'unreadable' && found.token === token) rmSync(path, { force: true });
}

/** What seems to come from the future is as old: the clock was set back. */
function ageOf(path: string): number {
  try {
    return Math.abs(Date.now() - statSync(path).mtimeMs);
  } catch {
    return 0; // Gone meanwhile: the next attempt sees that.
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
