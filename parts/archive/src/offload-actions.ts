import type { Archive } from './store/offloads.ts';
import type { ActionId } from '../../../src/domain/action.ts';
import { FanfareError } from '../../../src/domain/errors.ts';
import type { Identity } from '../../../src/domain/viewer.ts';
import { clock } from '../../../src/lib/clock.ts';
import { latestVersion, MIGRATIONS } from '../../../src/storage/migrations/migration.ts';
import { OffloadSum, recordText, type OffloadRecord } from './store/offload-records.ts';
import type { OffloadedAction } from './store/offloads.ts';
import { requireRole } from '../../../src/core/validate.ts';
import { shortened } from '../../../src/lib/cut.ts';

/** Number of actions read at once, together with everything that belongs to them. */
const BATCH = 500;

/** The next actions that may be offloaded, as lines of a file. */
export interface OffloadableActions {
  readonly lines: AsyncIterable<readonly string[]>;
  readonly last: ActionId;
}

export interface TakenOut {
  /** Withdrawn from all readers, by this run or an interrupted one; removal is in progress. */
  readonly taken: number;
  /** Removed completely by an earlier run with the same file. */
  readonly earlier: number;
  /** Skipped because they, or something that belongs to them, changed after they were written to the file. */
  readonly left: number;
}

export interface DocumentShape {
  readonly schema: number;
  /** The ids in them carry their tenant. */
  readonly tenants: boolean;
}

/** Current schema version of the documents. @throws FORBIDDEN; CONFLICT while a migration is due or running. */
export async function readDocumentShape(
  { schemaVersion }: Archive,
  identity: Identity,
): Promise<DocumentShape> {
  requireRole(identity, 'admin');
  const latest = latestVersion(MIGRATIONS);
  const state = await schemaVersion.state();
  if (state !== null && (state.version !== latest || state.migration !== null))
    throw new FanfareError('CONFLICT', 'A migration is not finished: run a worker until it is');
  return { schema: latest, tenants: state?.hasTenants ?? false };
}

/** Inactive actions in id order; `null`: no more. @throws FORBIDDEN */
export async function readOffloadable(
  { offloads }: Archive,
  identity: Identity,
  range: { readonly before: Date; readonly after: ActionId | null },
): Promise<OffloadableActions | null> {
  requireRole(identity, 'admin');
  const batch = await offloads.readBatch(range, BATCH);
  if (batch === null) return null;
  async function* lines(): AsyncGenerator<readonly string[]> {
    for await (const records of batch?.records ?? []) yield records.map(recordText);
  }
  return { lines: lines(), last: batch.last };
}

/** Step 1: makes the actions of the file invisible; nothing is removed yet. @throws FORBIDDEN */
export async function claimOffloaded(
  { offloads }: Archive,
  identity: Identity,
  offloadId: string,
  chunks: AsyncIterable<OffloadChunk>,
): Promise<void> {
  requireRole(identity, 'admin');
  for await (const { lines } of chunks) {
    const actions = lines.flatMap((line): OffloadedAction[] => {
      const { section, actionId, document } = readLine(offloads, line);
      const rev: unknown = document['rev'];
      return section === 'actions' && typeof rev === 'number' ? [{ id: actionId, rev }] : [];
    });
    await offloads.claim(offloadId, actions);
  }
}

/**
 * Step 2: compares claimed actions with the file and withdraws those that the file contains completely. Runs late enough
 * that no writer that saw an action before the claim is still active. Actions that differ become visible again.
 * @param offload `isContinued`: an earlier run with the same file may have removed some already.
 * @throws FanfareError FORBIDDEN
 */
export async function takeOut(
  { offloads, workSignal }: Archive,
  identity: Identity,
  { id: offloadId, isContinued }: { readonly id: string; readonly isContinued: boolean },
  chunks: AsyncIterable<OffloadChunk>,
): Promise<TakenOut> {
  requireRole(identity, 'admin');
  let [taken, earlier, left] = [0, 0, 0];
  let written = new Map<ActionId, OffloadSum>();
  for await (const { lines, endsBatch } of chunks) {
    for (const line of lines) {
      const record = readLine(offloads, line);
      if (record.section === 'actions') written.set(record.actionId, new OffloadSum());
      else written.get(record.actionId)?.add(record);
    }
    if (!endsBatch) continue;
    const sums = await offloads.sums(offloadId, [...written.keys()]);
    const isWhole = (id: ActionId): boolean => sums.get(id) === written.get(id)?.value;
    const whole = [...sums.keys()].filter(isWhole);
    await offloads.giveBack(
      offloadId,
      [...sums.keys()].filter((id) => !isWhole(id)),
    );
    await offloads.withdraw(offloadId, whole, clock.now());
    workSignal.notify('fan-out');
    const others = [...written.keys()].filter((id) => !sums.has(id));
    // In a first run, what is missing was deleted by somebody else.
    const { leaving, moved } = isContinued
      ? await offloads.fates(offloadId, others)
      : { leaving: 0, moved: 0 };
    taken += whole.length + leaving;
    earlier += moved;
    left += written.size - whole.length - leaving - moved;
    written = new Map();
  }
  return { taken, earlier, left };
}

/** Numbers of actions being withdrawn and of failed withdrawals. @throws FanfareError FORBIDDEN */
export async function readLeaving(
  { offloads }: Archive,
  identity: Identity,
  offloadId: string,
): Promise<{ readonly open: number; readonly failed: number }> {
  requireRole(identity, 'admin');
  return offloads.leaving(offloadId);
}

/** Step 3: removes the remains of withdrawn actions. @returns their number. @throws FanfareError FORBIDDEN */
export async function purgeOffloaded(
  { offloads }: Archive,
  identity: Identity,
  offloadId: string,
): Promise<number> {
  requireRole(identity, 'admin');
  let purged = 0;
  for (;;) {
    const count = await offloads.purge(offloadId, BATCH);
    if (count === 0) return purged;
    purged += count;
  }
}

/** Consecutive lines of an offload file. */
export interface OffloadChunk {
  readonly lines: readonly string[];
  /** All data belonging to the actions of this and earlier chunks has been read. */
  readonly endsBatch: boolean;
}

/** @throws FanfareError BAD_USER_INPUT */
export function readLine({ known }: Archive['offloads'], line: string): OffloadRecord {
  const record = known.recordOf(line);
  if (record === null)
    throw new FanfareError('BAD_USER_INPUT', `This is no record of an action: ${shortened(line, 100)}`);
  return record;
}
