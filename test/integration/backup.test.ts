import { BSON, type Db } from 'mongodb';
import { expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { borrowDatabase, openShared, returnDatabase } from '../support/spare-databases.ts';

const READERS = Array.from({ length: 12 }, (_, n) => `reader-${String(n)}`);
const REFS = Array.from({ length: 4 }, (_, n) => `site-${String(n)}`);

type Dump = ReadonlyMap<string, readonly Uint8Array[]>;

/** One collection after the other, as tools do that know no common moment: what comes meanwhile is in some of them. */
async function dump(db: Db, meanwhile: () => Promise<void>): Promise<Dump> {
  const names = (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name);
  const dumped = new Map<string, Uint8Array[]>();
  for (const name of names.sort()) {
    const documents = await db.collection(name).find({}, { raw: true }).toArray();
    dumped.set(name, documents as unknown as Uint8Array[]);
    await meanwhile();
  }
  return dumped;
}

async function restore(db: Db, dumped: Dump): Promise<void> {
  for (const [name, documents] of dumped) {
    // As they were: a whole number stays the kind of number it was.
    const exact = documents.map((bytes) =>
      BSON.deserialize(bytes, { promoteValues: false, promoteLongs: false }),
    );
    await db.collection(name).deleteMany({});
    if (exact.length > 0) await db.collection(name).insertMany(exact);
  }
}

async function feedOf(app: TestApp, reader: string): Promise<string[]> {
  const { edges } = await app.services.readFeed(app.session(reader), { first: 100 });
  return edges.map(({ node }) => node.actionId);
}

async function feeds(app: TestApp): Promise<Record<string, string[]>> {
  return Object.fromEntries(
    await Promise.all(READERS.map(async (reader) => [reader, await feedOf(app, reader)] as const)),
  );
}

/** Publishes, comments and hides, each time a little of everything. */
function workOn(app: TestApp) {
  const service = app.identity('host', 'service');
  const published: string[] = [];
  const hidden: string[] = [];
  let turn = 0;
  return {
    hidden,
    async goOn(): Promise<void> {
      turn += 1;
      const { action } = await app.services.publishAction(service, {
        actorId: 'actor',
        scope: 'PUBLIC',
        refs: [{ id: REFS[turn % REFS.length] ?? '', type: 'site', label: 'Site' }],
        descriptor: { custom: { verb: 'did', objectType: 'thing', objectId: String(turn) } },
      });
      published.push(action.id);
      const older = published[turn - 3];
      if (older === undefined || hidden.includes(older)) return;
      if (turn % 4 === 0) {
        hidden.push(older);
        await app.services.hideAction(app.session('moderator', 'admin'), older, null);
      } else await app.services.addInteraction(app.session('reader-1'), { actionId: older, kind: 'COMMENT' });
    },
  };
}

test('after a database is dumped while in use and restored, feeds match the actions and nothing from before is lost', async () => {
  await using source = await startTestApp({ api: false });
  await source.services.followMany(
    source.identity('host', 'service'),
    READERS.flatMap((followerId, n) =>
      [0, 1].map((k) => ({ followerId, refId: REFS[(n + k) % REFS.length] ?? '' })),
    ),
  );
  const work = workOn(source);
  for (let n = 0; n < 12; n += 1) await work.goOn();
  await source.idle();
  const before = await feeds(source);
  const { db } = await openShared(source.database);
  const dumped = await dump(db, () => work.goOn());
  await source.idle();
  const database = await borrowDatabase();
  const copy = await openShared(database);
  await restore(copy.db, dumped);
  {
    // With a Redis that knows nothing: its keys are those of the other database.
    await using restored = await startTestApp({ api: false, database });
    for await (const _count of restored.services.rebuildFeeds(restored.identity('operator', 'admin')));
    await restored.idle();
    await using derived = await startTestApp({
      api: false,
      worker: false,
      database,
      env: { FEED_MODEL: 'pull' },
    });
    const after = await feeds(restored);
    expect(after).toEqual(await feeds(derived));
    for (const reader of READERS)
      expect(after[reader]).toEqual(
        expect.arrayContaining((before[reader] ?? []).filter((id) => !work.hidden.includes(id))),
      );
    const known = new Set(Object.values(await feeds(source)).flat());
    expect(
      Object.values(after)
        .flat()
        .filter((id) => !known.has(id) && !work.hidden.includes(id)),
    ).toEqual([]);
    // And it goes on.
    await workOn(restored).goOn();
    await restored.idle();
    const held = await copy.db.collection('newsfeedItems').countDocuments();
    expect(held).toBeGreaterThanOrEqual(Object.values(after).flat().length);
    expect(Object.values(await feeds(restored)).flat().length).toBe(Object.values(after).flat().length + 6);
  }
  await returnDatabase(copy);
});
