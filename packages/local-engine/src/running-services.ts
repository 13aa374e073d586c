import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Addresses } from './addresses.ts';
import type { OnEmbeddedEvent } from './events.ts';
import { becomeMember } from './members.ts';
import { identify, isAlive, ownIdentity } from './process/identity.ts';
import type { ProcessIdentity } from './process/identity.ts';
import { readOwnFile, writeOwnFile } from './process/own-file.ts';

/** What runs in a DATA_DIR, with the passwords in the addresses. */
interface RunningServices extends Addresses {
  /** The process that started them; it may be gone while others that joined still use them. */
  readonly owner: ProcessIdentity;
  readonly keeper: ProcessIdentity;
}

const FILE = 'running-services.json';
const ASK_AGAIN_MS = 50;
/** How often those that joined look after the keeper, of which they are no owner. Milliseconds. */
const LOOK_EVERY_MS = 1_000;

/**
 * The databases that run in this DATA_DIR, for other processes of the same user; null while there are none or they are
 * still starting. They may stop at any time: a process that needs them for longer joins.
 */
export function findRunningServices(dataDir: string): RunningServices | null {
  const record = readRecord(join(dataDir, FILE));
  return record !== null && isAlive(record.keeper) ? record : null;
}

/**
 * Joins the databases that run in this DATA_DIR: they keep running until the process that started them and all that
 * joined have ended or disposed. Null when none run. If their keeper dies before, `onEvent` hears that they are lost.
 */
export async function joinRunningServices(
  dataDir: string,
  onEvent: OnEmbeddedEvent,
): Promise<(RunningServices & AsyncDisposable) | null> {
  if (findRunningServices(dataDir) === null) return null;
  const member = becomeMember(dataDir);
  let looking: NodeJS.Timeout | undefined;
  const leave = (): Promise<void> => {
    clearInterval(looking);
    member[Symbol.dispose]();
    return Promise.resolve();
  };
  for (;;) {
    // A keeper that is about to stop withdraws the addresses and then counts its members once more.
    const running = findRunningServices(dataDir);
    if (running !== null) {
      looking = watchKeeper(running.keeper, onEvent);
      return { ...running, [Symbol.asyncDispose]: leave };
    }
    const withdrawn = readRecord(withdrawnFile(dataDir));
    if (withdrawn === null || !isAlive(withdrawn.keeper)) {
      if (findRunningServices(dataDir) !== null) continue;
      await leave();
      return null;
    }
    await delay(ASK_AGAIN_MS);
  }
}

/** A keeper outlives those that joined, unless it is killed. */
function watchKeeper(keeper: ProcessIdentity, onEvent: OnEmbeddedEvent): NodeJS.Timeout {
  const looking = setInterval(() => {
    if (isAlive(keeper)) return;
    clearInterval(looking);
    const message = 'The process that keeps the local databases has ended, so they are not started again';
    onEvent({ step: 'lost', message });
  }, LOOK_EVERY_MS);
  return looking.unref();
}

/** Writes them down, readable by the owner of the folder only. The keeper removes it. */
export function noteRunningServices(dataDir: string, services: Addresses, keeperPid: number): void {
  const keeper = identify(keeperPid);
  if (keeper === null) return; // It has just died, and what depends on it notices.
  const { mongodbUri, mongodbKind, redisUrl, redisKind } = services;
  const owner = ownIdentity();
  const record: RunningServices = { owner, keeper, mongodbUri, mongodbKind, redisUrl, redisKind };
  writeOwnFile(join(dataDir, FILE), JSON.stringify(record));
}

/** From now on nobody can join. */
export function withdrawRunningServices(dataDir: string): void {
  move(join(dataDir, FILE), withdrawnFile(dataDir));
}

/** Others can join again. */
export function restoreRunningServices(dataDir: string): void {
  move(withdrawnFile(dataDir), join(dataDir, FILE));
}

/** They have ended. */
export function forgetRunningServices(dataDir: string): void {
  rmSync(join(dataDir, FILE), { force: true });
  rmSync(withdrawnFile(dataDir), { force: true });
}

function withdrawnFile(dataDir: string): string {
  return join(dataDir, `${FILE}.withdrawn`);
}

function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    // Where the services never came up, or the folder was deleted, there is nothing to move.
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}

function readRecord(file: string): RunningServices | null {
  const text = readOwnFile(file);
  try {
    return text === null ? null : (JSON.parse(text) as RunningServices);
  } catch {
    return null; // Not ours: it is never half written.
  }
}
