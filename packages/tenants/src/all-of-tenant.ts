import { COLLECTIONS } from '../../../src/app/collections.ts';
import type { Core } from '../../../src/features/core.ts';
import type { UserId } from '../../../src/domain/action.ts';
import { FanfareError } from '../../../src/domain/errors.ts';
import type { FeedPosition } from '../../../src/domain/newsfeed-item.ts';
import { plainId, tenantOf, type Tenant } from '../../../src/domain/stored-id.ts';
import type { Identity } from '../../../src/domain/viewer.ts';
import type { FeedStore } from '../../../src/feed/feed-store.ts';
import { clock } from '../../../src/lib/clock.ts';
import { tenantDataRepository, type TenantSummary } from './tenant-data.ts';
import { requireRole } from '../../../src/features/validate.ts';

export interface TenantProgress {
  /** The collection, or `feeds of readers`. */
  readonly section: string;
  readonly count: number;
}

/** A piece of an export: JSON lines of one section. */
export interface TenantLines {
  readonly section: string;
  readonly lines: readonly string[];
}

const FORMAT = 'fanfare-tenant-export/1';
const FEED_BATCH = 500;

/** All tenants with stored data. @throws FanfareError FORBIDDEN */
export async function* listTenants(
  { collections }: Core,
  identity: Identity,
): AsyncGenerator<TenantSummary, void, undefined> {
  requireOperator(identity);
  yield* tenantDataRepository(collections, COLLECTIONS).list();
}

/**
 * Deletes all data of a tenant and ends the streams of its members. A hash of its name stays, so that `restoreActions`
 * recognises older files. Concurrent writes by other processes may survive; repeat it afterwards to remove them. Safe to
 * interrupt and repeat.
 * @throws FanfareError FORBIDDEN
 */
export async function* eraseTenant(
  core: Core,
  identity: Identity,
  tenant: Tenant,
): AsyncGenerator<TenantProgress, void, undefined> {
  requireOperator(identity);
  const { collections, feedStore, erasedTenants, sessionEnds, liveLog, onLiveLogError } = core;
  const tenantData = tenantDataRepository(collections, COLLECTIONS);
  // From now on files written before cannot be restored; noted again at the end for files written meanwhile.
  await erasedTenants.note(tenant, clock.now());
  for await (const readers of tenantData.readers(tenant)) {
    for (const userId of readers) {
      await sessionEnds.endSessions(userId);
      await feedStore.drop(userId);
      // The live log expires on its own, minutes after the last watcher left.
      await liveLog.forget(userId).catch(onLiveLogError);
    }
    yield { section: READERS, count: readers.length };
  }
  for (const part of tenantData.parts()) {
    const remove = (): Promise<number> => tenantData.remove(part, tenant);
    for (let count = await remove(); count > 0; count = await remove()) yield { section: part.name, count };
  }
  await erasedTenants.note(tenant, clock.now());
}

/** Section name of stored feeds, whatever the model. */
export const READERS = 'feeds of readers';

/**
 * All data of a tenant as JSON lines: a head, one line per document and per entry of a stored feed, and a last line with
 * their number. Ids are those of the host application. Bounded memory, except for the ids of its members. Not a snapshot:
 * concurrent changes may or may not be included.
 * @throws FanfareError FORBIDDEN
 */
export async function* exportTenant(
  { collections, feedStore }: Core,
  identity: Identity,
  tenant: Tenant,
): AsyncGenerator<TenantLines, void, undefined> {
  requireOperator(identity);
  const tenantData = tenantDataRepository(collections, COLLECTIONS);
  const counts: Record<string, number> = {};
  const counted = (section: string, lines: readonly string[]): TenantLines => {
    counts[section] = (counts[section] ?? 0) + lines.length;
    return { section, lines };
  };
  const head = { format: FORMAT, tenant, exportedAt: clock.now() };
  yield { section: 'head', lines: [JSON.stringify(head)] };
  for (const part of tenantData.parts())
    if (part.isRebuilt !== true)
      for await (const lines of tenantData.lines(part, tenant)) yield counted(part.name, lines);
  const known = new Set<UserId>();
  for await (const readers of tenantData.readers(tenant))
    for (const userId of readers) {
      if (known.has(userId)) continue;
      known.add(userId);
      for await (const lines of feedLines(feedStore, userId)) yield counted('feed', lines);
    }
  yield { section: 'end', lines: [JSON.stringify({ end: counts })] };
}

async function* feedLines(feedStore: FeedStore, userId: UserId): AsyncGenerator<string[], void, undefined> {
  let after: FeedPosition | undefined;
  for (;;) {
    const { entries } = await feedStore.page({
      ...{ userId, limit: FEED_BATCH },
      ...(after === undefined ? {} : { after }),
    });
    if (entries.length === 0) return;
    yield entries.map((entry) => JSON.stringify({ in: 'feed', doc: { userId: plainId(userId), ...entry } }));
    if (entries.length < FEED_BATCH) return;
    after = entries.at(-1);
  }
}

/** Operators have access to the databases and belong to no tenant. */
function requireOperator(identity: Identity): void {
  requireRole(identity, 'admin');
  if (tenantOf(identity.userId) !== null)
    throw new FanfareError('FORBIDDEN', 'Only operators of the installation can do this');
}
