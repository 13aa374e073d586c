import type { Archive } from './store/offloads.ts';
import type { ActionId, UserId } from '../../../src/domain/action.ts';
import { FanfareError } from '../../../src/domain/errors.ts';
import type { Tenant } from '../../../src/domain/stored-id.ts';
import type { Identity } from '../../../src/domain/viewer.ts';
import { clock } from '../../../src/lib/clock.ts';
import { uncarried } from '../../../src/storage/stamps/directory-stamps.ts';
import { latestVersion, MIGRATIONS } from '../../../src/storage/migrations/migration.ts';
import type { MarkedReader } from '../../../src/storage/documents/declaration.ts';
import { erasedSubjects, type OffloadRecord } from './store/offload-records.ts';
import { MAX_PINNED } from '../../../src/features/moderation/pin-action.ts';
import { requireRole } from '../../../src/core/validate.ts';
import { readLine, type OffloadChunk } from './offload-actions.ts';

export interface OffloadedFile {
  readonly id: string;
  /** Known to the owner of the file. */
  readonly salt: string;
  /** Schema version of its documents. */
  readonly schema: number;
  /** The ids in its documents carry their tenant. */
  readonly tenants: boolean;
  /** When the offload started to read the actions. */
  readonly readAt: Date;
}

export interface BroughtBack {
  readonly returned: number;
  /** Skipped because they exist already, were offloaded again, or belong to a tenant erased since. */
  readonly skipped: number;
}

const BATCH = 500;

/**
 * Restores the contents of a file and makes them visible once complete: actions with their ids, times and interactions, and
 * the readers' marks on them. They are delivered again, without host events. Members erased since the file was written come
 * back as former members; erased tenants do not come back. Interrupted calls can be repeated.
 * @throws FanfareError FORBIDDEN; BAD_USER_INPUT for a file of a newer release, or when tenants are on in only one of file
 * and
 *   database; CONFLICT while the file is still being offloaded
 */
export async function restoreActions(
  core: Archive,
  identity: Identity,
  file: OffloadedFile,
  chunks: AsyncIterable<OffloadChunk>,
): Promise<BroughtBack> {
  requireRole(identity, 'admin');
  const { offloads, schemaVersion, workSignal } = core;
  const refusal = refusalOfFile(file, (await schemaVersion.state())?.hasTenants ?? false);
  if (refusal !== null) throw new FanfareError('BAD_USER_INPUT', refusal);
  if ((await offloads.countUnfinished(file.id)) > 0)
    throw new FanfareError('CONFLICT', 'The offload to this file is not finished: finish it first');
  const skipped = await bring(core, file, chunks);
  // Migrate older documents while nobody can see them yet.
  await offloads.bringUp(file.schema);
  let returned = 0;
  for (;;) {
    const count = await offloads.showReturned(file.id, BATCH, clock.now());
    if (count === 0) return { returned, skipped };
    returned += count;
    workSignal.notify('fan-out');
  }
}

/** Why a file cannot come back here, whatever it has; null: it can. */
export function refusalOfFile(file: OffloadedFile, hasTenants: boolean): string | null {
  const latest = latestVersion(MIGRATIONS);
  if (file.schema > latest)
    return `The file has schema version ${String(file.schema)}, and this version of the server knows those up to ${String(latest)}. Another version wrote it: run that one`;
  if (file.tenants === hasTenants) return null;
  return file.tenants
    ? 'The file has actions of tenants, and this database has no tenants'
    : 'The file has actions without tenants, and this database has tenants';
}

/** @returns the number of actions skipped. */
async function bring(
  core: Archive,
  file: OffloadedFile,
  chunks: AsyncIterable<OffloadChunk>,
): Promise<number> {
  let skipped = 0;
  let batch: Batch = { returning: new Set(), named: [] };
  for await (const { lines, endsBatch } of chunks) {
    const records = lines.map((line) => readLine(core.offloads, line));
    const actions = records.filter(({ section }) => section === 'actions');
    batch.named.push(...actions);
    const present = await withoutErasedTenants(core, file, records);
    const kept = await withoutErased(core, file, batch, present);
    const returning = await bringActions(core, file.id, kept);
    skipped += actions.length - returning.size;
    for (const id of returning) batch.returning.add(id);
    await bringBelongings(core, kept, batch.returning);
    if (endsBatch) batch = { returning: new Set(), named: [] };
  }
  return skipped;
}

interface Batch {
  readonly returning: Set<ActionId>;
  /** The actions as stored in the file: they contain the names used for people. */
  readonly named: OffloadRecord[];
}

/** Data of actions that are not restored is left out as well. */
async function withoutErasedTenants(
  { erasedTenants }: Archive,
  { readAt }: OffloadedFile,
  records: readonly OffloadRecord[],
): Promise<readonly OffloadRecord[]> {
  const tenants = new Set(records.map(tenantOfAction).filter((tenant) => tenant !== null));
  const erased = await erasedTenants.erasedSince([...tenants], readAt);
  if (erased.size === 0) return records;
  return records.filter((record) => !erased.has(tenantOfAction(record) ?? ''));
}

function tenantOfAction({ section, document }: OffloadRecord): Tenant | null {
  const { tenant } = document as { readonly tenant?: unknown };
  return section === 'actions' && typeof tenant === 'string' ? tenant : null;
}

/** The records as they would be if erasures since then had included the file. */
async function withoutErased(
  { erasures, offloads: { known } }: Archive,
  { readAt, salt }: OffloadedFile,
  { named }: Batch,
  records: readonly OffloadRecord[],
): Promise<OffloadRecord[]> {
  // Moderators' reasons may name the same people as the action.
  const ids = [...new Set([...records, ...named].flatMap((record) => known.membersIn(record)))];
  const erased = ids.length === 0 ? [] : await erasures.erasedSince(ids, readAt);
  const subjects = erasedSubjects(erased, named, salt);
  return records.flatMap((record) => {
    const kept = subjects.reduce<OffloadRecord | null>(
      (left, subject) => (left === null ? null : known.anonymised(left, subject)),
      record,
    );
    return kept === null ? [] : [kept];
  });
}

async function bringActions(
  { offloads, renames }: Archive,
  offloadId: string,
  records: readonly OffloadRecord[],
): Promise<ReadonlySet<ActionId>> {
  const documents = records.flatMap(({ section, document }) => (section === 'actions' ? [document] : []));
  if (documents.length === 0) return new Set();
  const returning = await offloads.bringActions(offloadId, documents);
  // The file contains names and labels from before later renames, or as another database has them.
  await renames.carryAgain(
    uncarried(documents.flatMap((document) => (document['names'] as readonly string[] | undefined) ?? [])),
    clock.now(),
  );
  return returning;
}

async function bringBelongings(
  { offloads, feeds }: Archive,
  records: readonly OffloadRecord[],
  returning: ReadonlySet<ActionId>,
): Promise<void> {
  const belongings = records.filter(
    ({ section, actionId }) => section !== 'actions' && returning.has(actionId),
  );
  const marks = await offloads.bringBelongings(belongings, MAX_PINNED);
  const byReader = new Map<UserId, MarkedReader>();
  for (const mark of marks) byReader.set(mark.userId, { ...byReader.get(mark.userId), ...mark });
  await Promise.all(Array.from(byReader.values(), ({ userId, ...more }) => feeds.markHasMarks(userId, more)));
}
