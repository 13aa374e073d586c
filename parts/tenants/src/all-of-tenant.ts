import type { Core } from '../../../src/core/core.ts';
import type { UserId } from '../../../src/domain/action.ts';
import { FanfareError } from '../../../src/domain/errors.ts';
import type { FeedPosition } from '../../../src/domain/newsfeed-item.ts';
import { type Tenant, idRangeOf, plainId, tenantOf, withoutTenantIn } from '../../../src/domain/stored-id.ts';
import type { Identity } from '../../../src/domain/viewer.ts';
import type { FeedStore } from '../../../src/feed/feed-store.ts';
import { clock } from '../../../src/lib/clock.ts';
import { requireRole } from '../../../src/core/validate.ts';
import { BSON, type Document, type Filter, type ObjectId } from 'mongodb';
import type { ActionDocument } from '../../../src/storage/documents/documents.ts';
import type { Collections } from '../../../src/storage/database/mongo.ts';
import { type Declaration, tenantIn } from '../../../src/storage/documents/declaration.ts';
import { fieldOf } from '../../../src/storage/documents/ids.ts';

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
  { collections, declarations }: Core,
  identity: Identity,
): AsyncGenerator<TenantSummary, void, undefined> {
  requireOperator(identity);
  yield* tenantDataRepository(collections, declarations).list();
}

/**
 * Deletes all data of a tenant and ends the streams of its members. A hash of its name stays, so that `restoreActions`
 * recognises older files. Concurrent writes by other processes may survive; repeat it afterwards to remove them. Safe to
 * interrupt and repeat.
 * @param declarations of all collections, including those of feed models
 * @throws FanfareError FORBIDDEN
 */
export async function* eraseTenant(
  core: Core,
  identity: Identity,
  tenant: Tenant,
  declarations: readonly Declaration[],
): AsyncGenerator<TenantProgress, void, undefined> {
  requireOperator(identity);
  const { collections, feedStore, erasedTenants, sessionEnds, liveLog, onLiveLogError } = core;
  const tenantData = tenantDataRepository(collections, declarations);
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
 * @param declarations of all collections, including those of feed models
 * @throws FanfareError FORBIDDEN
 */
export async function* exportTenant(
  { collections, feedStore }: Core,
  identity: Identity,
  tenant: Tenant,
  declarations: readonly Declaration[],
): AsyncGenerator<TenantLines, void, undefined> {
  requireOperator(identity);
  const tenantData = tenantDataRepository(collections, declarations);
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

interface TenantSummary {
  readonly tenant: Tenant;
  readonly members: number;
  /** Without deleted ones. */
  readonly actions: number;
}

const BATCH = 500;
/** Upper bound for all ids and fields of a tenant. */
const BEHIND = ' ';

/** Filter for the documents of a tenant. Uses an index, or the collection is small. */
function ofTenant(declaration: Declaration, tenant: Tenant): Filter<Document> {
  const { from, before } = idRangeOf(tenant);
  const ranges = tenantIn(declaration).map((path) =>
    path === 'tenant' ? { tenant } : { [fieldOf(path)]: { $gte: from, $lt: before } },
  );
  const [first, ...others] = ranges;
  return first === undefined || others.length > 0 ? { $or: ranges } : first;
}

/** All data of one tenant. For the command line: its reads take long. */
export function tenantDataRepository(collections: Collections, declarations: readonly Declaration[]) {
  const { actions, erasures, feeds, follows, hostEvents, members, refs } = collections;
  const { db } = members;

  /** Tenant of the next document after a position, by an index that starts with the field. */
  async function nextIn(
    collection: { find: Collections['members']['find'] },
    field: string,
    after: Tenant | null,
  ): Promise<Tenant | null> {
    const isId = field !== 'tenant';
    const behind = isId ? { $gte: `${after ?? ''}${BEHIND}` } : { $gt: after ?? '' };
    const [found] = await collection
      .find({ [field]: behind })
      .sort({ [field]: 1 })
      .project({ [field]: 1 })
      .limit(1)
      .toArray();
    const value: unknown = found?.[field];
    if (typeof value !== 'string') return null;
    return isId ? tenantOf(value) : value;
  }

  async function* batches<D extends Document>(
    part: { readonly collection: string; readonly filter: Document },
    projection: Document | null = null,
  ): AsyncGenerator<D[], void, undefined> {
    const cursor = db.collection(part.collection).find(part.filter).batchSize(BATCH);
    if (projection !== null) cursor.project(projection);
    try {
      while (await cursor.hasNext()) yield cursor.readBufferedDocuments() as unknown as D[];
    } finally {
      await cursor.close();
    }
  }

  return {
    /** All tenants with data, ordered by name. A few reads per tenant. */
    async *list(): AsyncGenerator<TenantSummary, void, undefined> {
      const sources = [
        [members, '_id'],
        [refs, '_id'],
        [feeds, '_id'],
        [follows, 'followerId'],
        [actions, 'tenant'],
        [hostEvents, 'tenant'],
        [erasures, 'tenant'],
      ] as unknown as readonly (readonly [{ find: Collections['members']['find'] }, string])[];
      let after: Tenant | null = null;
      for (;;) {
        const place: Tenant | null = after;
        const next = (
          await Promise.all(sources.map(([collection, field]) => nextIn(collection, field, place)))
        ).filter((name) => name !== null);
        const [tenant] = next.sort();
        if (tenant === undefined) return;
        const { from, before } = idRangeOf(tenant);
        const [people, deeds] = await Promise.all([
          members.countDocuments({ _id: { $gte: from, $lt: before } }),
          actions.countDocuments({ tenant, isDeleted: false }),
        ]);
        yield { tenant, members: people, actions: deeds };
        after = tenant;
      }
    },

    /** Everybody who may have a feed or watch one, in batches, possibly with duplicates. */
    async *readers(tenant: Tenant): AsyncGenerator<UserId[], void, undefined> {
      const { from, before } = idRangeOf(tenant);
      const range = { $gte: from, $lt: before };
      for (const collection of ['members', 'feeds'])
        for await (const found of batches<{ _id: UserId }>(
          { collection, filter: { _id: range } },
          { _id: 1 },
        ))
          yield found.map(({ _id }) => _id);
      for await (const found of batches<{ followerId: UserId }>(
        { collection: 'follows', filter: { followerId: range } },
        { followerId: 1 },
      ))
        yield [...new Set(found.map(({ followerId }) => followerId))];
      for await (const found of batches<Pick<ActionDocument, 'actorId' | 'mentions' | 'recipients'>>(
        { collection: 'actions', filter: { tenant } },
        { actorId: 1, mentions: 1, recipients: 1 },
      ))
        yield [
          ...new Set(
            found.flatMap(({ actorId, mentions, recipients }) => [actorId, ...mentions, ...recipients]),
          ),
        ];
    },

    /** A part's documents as stored, one line of JSON each, with ids in the application's form. */
    async *lines(part: Declaration, tenant: Tenant): AsyncGenerator<string[], void, undefined> {
      const { name: collection } = part;
      for await (const found of batches({ collection, filter: ofTenant(part, tenant) }))
        yield found.map((document) => {
          const plain = BSON.EJSON.serialize(document, { relaxed: true });
          return JSON.stringify({ in: collection, doc: withoutTenantIn<unknown>(tenant, plain) });
        });
    },

    /** Removes some documents of a part. @returns their number: 0 when there is none. */
    async remove(part: Declaration, tenant: Tenant): Promise<number> {
      const { name: collection, beforeRemoval } = part;
      const { reads, run } = beforeRemoval ?? { reads: ['_id'] };
      const found = await db
        .collection(collection)
        .find(ofTenant(part, tenant))
        .project(Object.fromEntries(reads.map((field) => [field, 1])))
        .limit(BATCH)
        .toArray();
      if (found.length === 0) return 0;
      await run?.(collections, found);
      const { deletedCount } = await db
        .collection(collection)
        .deleteMany({ _id: { $in: found.map(({ _id }) => _id as ObjectId) } });
      return deletedCount;
    },

    /** Collections with documents of tenants. */
    parts: (): readonly Declaration[] => declarations.filter((one) => tenantIn(one).length > 0),
  };
}
