import type { ActionId } from '../../domain/action.ts';
import { FanfareError } from '../../domain/errors.ts';
import type { Identity } from '../../domain/viewer.ts';
import { clock } from '../../lib/clock.ts';
import { latestVersion, MIGRATIONS } from '../../storage/migrations/registry.ts';
import { OffloadSum, recordText } from '../../storage/offload/offload-records.ts';
import type { OffloadedAction } from '../../storage/offload/offloads.ts';
import { requireRole } from '../roles.ts';
import { readLine, type OffloadChunk } from './offload-lines.ts';
import type { LifecycleDependencies } from '../service-parts.ts';

/** Actions whose documents are read at once, with all that belongs to them. */
const BATCH = 500;

/** The next actions that may be taken out, as lines of a file. */
export interface OffloadableActions {
  readonly lines: AsyncIterable<readonly string[]>;
  readonly last: ActionId;
}

export interface TakenOut {
  /** Withdrawn from everybody; being removed. */
  readonly taken: number;
  /** Left as they are, since they or what belongs to them has changed since they were written to the file. */
  readonly left: number;
}

export interface DocumentShape {
  readonly schema: number;
  /** Ids in them stand behind their tenant. */
  readonly tenants: boolean;
}

/** The shape that documents have now. @throws FORBIDDEN; CONFLICT while a migration is due or under way. */
export async function readDocumentShape(
  { schemaVersion }: Pick<LifecycleDependencies, 'schemaVersion'>,
  identity: Identity,
): Promise<DocumentShape> {
  requireRole(identity, 'admin');
  const latest = latestVersion(MIGRATIONS);
  const state = await schemaVersion.state();
  if (state !== null && (state.version !== latest || state.migration !== null))
    throw new FanfareError('CONFLICT', 'A migration has not come to its end: run a worker until it has');
  return { schema: latest, tenants: state?.hasTenants ?? false };
}

/** Actions with which nothing has happened since, in id order; null: no more. @throws FORBIDDEN */
export async function readOffloadable(
  { offloads }: Pick<LifecycleDependencies, 'offloads'>,
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

/** The first step: nobody sees the actions of the file any more, nothing is removed. @throws FORBIDDEN */
export async function claimOffloaded(
  { offloads }: Pick<LifecycleDependencies, 'offloads'>,
  identity: Identity,
  offloadId: string,
  chunks: AsyncIterable<OffloadChunk>,
): Promise<void> {
  requireRole(identity, 'admin');
  for await (const { lines } of chunks) {
    const actions = lines.flatMap((line): OffloadedAction[] => {
      const { section, actionId, document } = readLine(line);
      const rev: unknown = document['rev'];
      return section === 'actions' && typeof rev === 'number' ? [{ id: actionId, rev }] : [];
    });
    await offloads.claim(offloadId, actions);
  }
}

/**
 * The second step: what was claimed is compared with the file, and what the file has whole is withdrawn. Comes late enough
 * that nobody still writes who saw an action before it was claimed. What differs is shown again.
 * @throws FanfareError FORBIDDEN
 */
export async function takeOut(
  { offloads, workSignal }: Pick<LifecycleDependencies, 'offloads' | 'workSignal'>,
  identity: Identity,
  offloadId: string,
  chunks: AsyncIterable<OffloadChunk>,
): Promise<TakenOut> {
  requireRole(identity, 'admin');
  let [taken, left] = [0, 0];
  let written = new Map<ActionId, OffloadSum>();
  for await (const { lines, endsBatch } of chunks) {
    for (const line of lines) {
      const record = readLine(line);
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
    workSignal.notify();
    taken += whole.length;
    left += written.size - whole.length;
    written = new Map();
  }
  return { taken, left };
}

/** How many are being withdrawn, and how many could not be. @throws FanfareError FORBIDDEN */
export async function readLeaving(
  { offloads }: Pick<LifecycleDependencies, 'offloads'>,
  identity: Identity,
  offloadId: string,
): Promise<{ readonly open: number; readonly failed: number }> {
  requireRole(identity, 'admin');
  return offloads.leaving(offloadId);
}

/** The last step: removes what is left of actions that have been withdrawn. @returns how many. @throws FanfareError FORBIDDEN */
export async function purgeOffloaded(
  { offloads }: Pick<LifecycleDependencies, 'offloads'>,
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
