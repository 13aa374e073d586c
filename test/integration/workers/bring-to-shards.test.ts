import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { ALL_RETIRED_INDEXES } from '../../../src/app/indexes.ts';
import { dropIndexes } from '../../../src/storage/indexes/indexes.ts';
import { MIGRATIONS } from '../../../src/storage/migrations/registry.ts';
import { PUBLISHED_SINCE } from '../../../src/storage/migrations/publications.ts';
import { newObjectId } from '../../../src/storage/database/mongo.ts';
import { publicationId } from '../../../src/storage/actions/publications.ts';
import { SHARD_PLANS } from '../../../src/storage/indexes/shard-keys.ts';
import { shardRefusals } from '../../../src/storage/indexes/shard-rules.ts';
import { MigrationWorker } from '../../../src/workers/migration/migration-worker.ts';
import { openParts, type Parts } from '../../support/parts.ts';

const READERS = ['ann', 'bob', 'cid', 'dan'];
const ACTORS = ['x', 'y', 'z'];
const KEYS = Array.from({ length: 40 }, (_, n) => `key-${String(n)}`);
const BATCH = 7;

/** The unique indexes that the release before went by. */
const OLD_INDEXES = [
  ['actions', 'idempotency', { actorId: 1, idempotencyKey: 1 }, { idempotencyKey: { $exists: true } }],
  ['follows', 'followers', { refId: 1, followerId: 1 }, null],
  ['newsfeedItems', 'delivery', { actionId: 1, userId: 1 }, null],
] as const;

interface OldItem {
  readonly _id: ObjectId | string;
  readonly userId: string;
  readonly actionId: ObjectId;
  readonly relevancy: Date;
  readonly reasons: string[];
}

/** An emptied database has its indexes from here on: they go with the test. */
async function asBefore(parts: Parts): Promise<AsyncDisposable> {
  const { db, collections } = parts.database;
  for (const [collection, name, key, partial] of OLD_INDEXES)
    await db
      .collection(collection)
      .createIndexes([
        { key, name, unique: true, ...(partial === null ? {} : { partialFilterExpression: partial }) },
      ]);
  await collections.schema.replaceOne({ _id: 'schema' }, { version: PUBLISHED_SINCE - 1 }, { upsert: true });
  return {
    [Symbol.asyncDispose]: async () => {
      await dropIndexes(db, ALL_RETIRED_INDEXES);
    },
  };
}

const post = (n: number) => ({
  actorId: ACTORS[n % ACTORS.length] ?? '',
  idempotencyKey: KEYS[n] ?? '',
  scope: 'PUBLIC' as const,
  descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: String(n) } },
});

/** Published and delivered by the release before: no publications, and items with ids of their own. */
async function published(parts: Parts): Promise<Map<string, string>> {
  await parts.services.followMany(
    parts.service,
    READERS.flatMap((followerId) => ACTORS.map((refId) => ({ followerId, refId }))),
  );
  const outcomes = await parts.services.publishActions(
    parts.service,
    KEYS.map((_key, n) => post(n)),
  );
  await parts.fanOut();
  await parts.database.collections.publications.deleteMany({});
  const items = parts.database.db.collection<OldItem>('newsfeedItems');
  const old = (await items.find().toArray()).map((item) => ({ ...item, _id: new ObjectId() }));
  await items.deleteMany({});
  await items.insertMany(old);
  await parts.database.collections.feedEpochs.updateOne({ _id: 'feeds' }, { $set: { model: 'items' } });
  return new Map(outcomes.map(({ action }, n) => [KEYS[n] ?? '', action?.id ?? '']));
}

function migrations(parts: Parts): MigrationWorker {
  const fail = (error: unknown): never => {
    throw error;
  };
  const silent = () => undefined;
  return new MigrationWorker(
    {
      ...parts.repositories,
      migrations: MIGRATIONS,
      collections: parts.database.collections,
      newToken: newObjectId,
      observer: { started: silent, waiting: silent, finished: silent, failed: fail },
    },
    { leaseMs: 60_000, pollMs: 60_000, batchSize: BATCH },
  );
}

/** What readers see, and what each key stands for. */
async function seen(parts: Parts, known: ReadonlySet<string>): Promise<unknown> {
  const feeds = await Promise.all(READERS.map((reader) => parts.feedOf(reader)));
  const unread = await Promise.all(
    READERS.map((reader) => parts.services.countUnread(parts.session(reader))),
  );
  const replays = await parts.services.publishActions(
    parts.service,
    KEYS.map((_key, n) => post(n)),
  );
  return {
    feeds: feeds.map((ids) => ids.filter((id) => known.has(id))),
    unread: known.size === KEYS.length ? unread : null,
    replays: replays.map(({ action, isReplay }) => [action?.id, isReplay]),
  };
}

test('a database of the release before is brought over while it is read and written, and shows what it showed', async () => {
  await using older = await openParts();
  await using _indexes = await asBefore(older);
  const idOf = await published(older);
  const known = new Set(idOf.values());
  await using parts = await older.reopen();
  await using other = await older.reopen();
  const before = await seen(parts, known);
  expect(before).toMatchObject({ replays: KEYS.map((key) => [idOf.get(key), true]) });
  // A process that has replayed them all already knew them by their index; nothing was noted wrongly by that.
  await parts.database.collections.publications.deleteMany({});

  const fresh: string[] = [];
  const work = { isDone: false };
  const writing = (async () => {
    for (let n = 0; !work.isDone || n < 10; n++) {
      const input = { ...post(n % KEYS.length), idempotencyKey: `new-${String(n)}` };
      const both = await Promise.all([parts.publish(input), other.publish(input)]);
      expect(both.map(({ isReplay }) => isReplay).sort()).toEqual([false, true]);
      expect(both[0].action.id).toBe(both[1].action.id);
      fresh.push(both[0].action.id);
      const old = n % KEYS.length;
      expect((await other.publish(post(old))).action.id).toBe(idOf.get(KEYS[old] ?? ''));
    }
  })();
  const reading = (async () => {
    do expect(await seen(other, known)).toMatchObject({ replays: KEYS.map((key) => [idOf.get(key), true]) });
    while (!work.isDone);
  })();
  const migrated = await migrations(parts).round();
  work.isDone = true;
  await Promise.all([writing, reading]);
  expect(migrated).toBe(true);
  const { schemaVersion } = parts.repositories;
  expect(await schemaVersion.state()).toMatchObject({ version: PUBLISHED_SINCE, migration: null });
  expect((await dropIndexes(parts.database.db, ALL_RETIRED_INDEXES)).sort()).toEqual(
    OLD_INDEXES.map(([collection, name]) => `${collection}.${name}`).sort(),
  );

  // Nothing hangs on the old indexes any more.
  const { unread: _unread, ...shown } = (await seen(parts, known)) as { readonly unread: unknown };
  expect(before).toMatchObject(shown);
  const { actions, publications } = parts.database.collections;
  expect(await actions.countDocuments()).toBe(KEYS.length + fresh.length);
  expect(await publications.countDocuments()).toBe(KEYS.length + fresh.length);
  for (const [key, id] of idOf) {
    const publication = await publications.findOne({
      _id: publicationId({ actorId: ACTORS[KEYS.indexOf(key) % ACTORS.length] ?? '', idempotencyKey: key }),
    });
    expect(publication?.actionId.toHexString()).toBe(id);
  }
  for (const { collection, key } of SHARD_PLANS)
    if (key !== null) {
      const indexes = await parts.database.db
        .collection(collection)
        .indexes()
        .catch(() => []);
      expect(
        shardRefusals(
          indexes.map((index) => ({ ...index, name: index.name ?? '' })),
          key,
        ),
      ).toEqual([]);
    }

  // Feeds with items of another form were rebuilt, and have each action once.
  await parts.fanOut();
  const [first = ''] = known;
  await parts.services.recordInteraction(parts.session('ann'), { actionId: first, kind: 'COMMENT' });
  await parts.fanOut();
  const items = parts.database.db.collection<OldItem>('newsfeedItems');
  for (const reader of READERS) {
    const feed = await parts.feedOf(reader);
    expect([new Set(feed).size, feed.length]).toEqual(Array(2).fill(KEYS.length + fresh.length));
    expect(await items.countDocuments({ userId: reader })).toBe(feed.length);
    await parts.services.rebuildFeed(parts.admin, reader);
    await parts.fanOut();
    expect(await parts.feedOf(reader)).toEqual(feed);
  }
});

/** As the release before claims what is due: it finds and takes it at once. */
async function claimAsBefore(
  { database }: Parts,
  token: string,
  { by, leaseUntil }: { readonly by: Date; readonly leaseUntil: Date },
): Promise<string | null> {
  const claimed = await database.collections.actions.findOneAndUpdate(
    {
      'fanOut.state': 'PENDING',
      'fanOut.lane': { $gte: 'BULK' },
      'fanOut.leaseUntil': { $exists: true, $lte: by },
    },
    {
      $set: { 'fanOut.state': 'IN_PROGRESS', 'fanOut.worker': token, 'fanOut.leaseUntil': leaseUntil },
      $inc: { 'fanOut.attempts': 1, 'fanOut.begun': 1 },
    },
    { sort: { 'fanOut.lane': -1, 'fanOut.leaseUntil': 1 }, returnDocument: 'after' },
  );
  return claimed?._id.toHexString() ?? null;
}

/** As the release before delivers: under ids of its own. Gives the readers who had it already. */
async function deliverAsBefore(
  { database }: Parts,
  actionId: string,
  readers: readonly string[],
): Promise<string[]> {
  const items = database.db.collection<OldItem>('newsfeedItems');
  const action = await database.collections.actions.findOne({ _id: new ObjectId(actionId) });
  const documents = readers.map((userId) => ({
    ...{ _id: new ObjectId(), userId, actionId: new ObjectId(actionId) },
    ...{ relevancy: action?.latest ?? new Date(), reasons: ['FOLLOW'] },
  }));
  const refused: string[] = [];
  for (const document of documents)
    await items.insertOne(document).catch((error: unknown) => {
      expect(error).toMatchObject({ code: 11_000 });
      refused.push(document.userId);
    });
  return refused;
}

test('a worker of the release before and one of this release beside it deliver each action once, and nothing stale is read', async () => {
  await using parts = await openParts();
  await using _indexes = await asBefore(parts);
  await parts.services.followMany(
    parts.service,
    READERS.map((followerId) => ({ followerId, refId: 'x' })),
  );
  for (const reader of READERS) await parts.feedOf(reader);
  await parts.fanOut();
  const items = parts.database.db.collection<OldItem>('newsfeedItems');
  const inFeeds = () => Promise.all(READERS.map((reader) => parts.feedOf(reader)));
  const of = (id: string) => READERS.map(() => [id]);

  // The older one delivers to half of the readers and dies; this release's goes on.
  const { action } = await parts.publish(post(0));
  const claimed = await claimAsBefore(parts, 'older', {
    by: new Date(Date.now() + 60_000),
    leaseUntil: new Date(0),
  });
  expect(claimed).toBe(action.id);
  expect(await deliverAsBefore(parts, action.id, READERS.slice(0, 2))).toEqual([]);
  expect((await parts.feedOf('ann'))[0]).toBe(action.id);
  await parts.fanOut();
  expect(await inFeeds()).toEqual(of(action.id));
  expect(await items.countDocuments()).toBe(READERS.length);
  const kinds = (await items.find().toArray()).map(({ _id }) => typeof _id).sort();
  expect(kinds).toEqual(['object', 'object', 'string', 'string']);

  // What one holds the other one does not get, and what one has delivered the other one finds.
  const token = newObjectId();
  await parts.services.recordInteraction(parts.session('ann'), { actionId: action.id, kind: 'COMMENT' });
  const due = new Date(Date.now() + 60_000);
  const held = await parts.repositories.fanOuts.claim(token, due, 60_000);
  expect(held?.action.id).toBe(action.id);
  expect(await claimAsBefore(parts, 'older', { by: due, leaseUntil: due })).toBeNull();
  expect(await deliverAsBefore(parts, action.id, READERS)).toEqual(READERS);
  expect(await inFeeds()).toEqual(of(action.id));

  // A key that one has used stands for the same action at the other, whichever was first.
  const byOlder = { ...(await parts.database.collections.actions.findOne({ _id: new ObjectId(action.id) })) };
  const insertAsBefore = (idempotencyKey: string) =>
    parts.database.collections.actions.insertOne({
      ...byOlder,
      _id: new ObjectId(),
      idempotencyKey,
    } as never);
  const { insertedId } = await insertAsBefore('theirs');
  const replayed = await parts.publish({ ...post(0), idempotencyKey: 'theirs' });
  expect(replayed).toMatchObject({ isReplay: true, action: { id: insertedId.toHexString() } });
  await parts.publish({ ...post(0), idempotencyKey: 'ours' });
  await expect(insertAsBefore('ours')).rejects.toMatchObject({ code: 11_000 });
});
