import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { OnEmbeddedEvent } from './events.ts';
import { RECORD_FILE } from './keeper-messages.ts';
import type { KeeperRecord, RunningService } from './keeper-messages.ts';
import { isAlive } from './process/identity.ts';
import type { ProcessIdentity } from './process/identity.ts';
import { readOwnFile } from './process/own-file.ts';
import { waitUntil } from './process/wait-until.ts';

/** A keeper stops its services one after the other, each within its own limit; this is more than all of them. */
const KEEPER_WITHIN_MS = 20_000;
const SERVICE_WITHIN_MS = 5_000;

/**
 * Waits for what an earlier run on this folder left, and ends what does not end on its own. The caller holds the lock
 * of the folder, so the process that started them is dead: their keeper is stopping them, or, if it was killed too, the system
 * has told them to stop.
 */
export async function clearLeftovers(dataDir: string, onEvent: OnEmbeddedEvent): Promise<void> {
  const file = join(dataDir, RECORD_FILE);
  const record = readRecord(file);
  if (record === null) return;
  const isAnyAlive = () =>
    isAlive(record.keeper) || record.services.some((service) => isAlive(service.identity));
  if (isAnyAlive())
    onEvent({ step: 'recover', message: 'Waiting for the services of an earlier run to end' });
  await endWithin(record.keeper, KEEPER_WITHIN_MS);
  // What depends on others was started after them, so it goes first.
  for (const service of [...record.services].reverse()) await endService(service);
  rmSync(file, { force: true });
}

async function endService({ identity }: RunningService): Promise<void> {
  if (await waitUntil(() => !isAlive(identity), SERVICE_WITHIN_MS)) return;
  signal(identity, 'SIGTERM');
  await endWithin(identity, SERVICE_WITHIN_MS);
}

async function endWithin(identity: ProcessIdentity, withinMs: number): Promise<void> {
  if (await waitUntil(() => !isAlive(identity), withinMs)) return;
  signal(identity, 'SIGKILL');
  await waitUntil(() => !isAlive(identity), SERVICE_WITHIN_MS);
}

function signal(identity: ProcessIdentity, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    if (isAlive(identity)) process.kill(identity.pid, name);
  } catch (error) {
    // It went in between.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function readRecord(file: string): KeeperRecord | null {
  const text = readOwnFile(file);
  try {
    return text === null ? null : (JSON.parse(text) as KeeperRecord);
  } catch {
    return null; // Not ours: a record is never half written.
  }
}
