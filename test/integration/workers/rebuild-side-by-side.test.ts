import { expect, test } from 'vitest';
import { OnDispose } from '../../../src/lib/closer.ts';
import { Crash } from '../../support/crashing.ts';
import { FAILING, reporting } from '../../support/jobs.ts';
import { openParts, type Parts } from '../../support/parts.ts';

const READERS = Array.from({ length: 9 }, (_, n) => `reader-${String(n)}`);
const ACTORS = ['ada', 'bob', 'cid'];

/** Each reader follows two of three actors, who have all published before. */
async function makeWorld(parts: Parts): Promise<void> {
  await parts.services.followMany(
    parts.service,
    READERS.flatMap((followerId, n) =>
      ACTORS.filter((_, place) => place !== n % 3).map((refId) => ({ followerId, refId })),
    ),
  );
  for (let n = 0; n < 12; n += 1) await publish(parts, n);
  await parts.fanOut();
  for (const userId of READERS) await parts.feedStore.drop(userId);
}

function publish(parts: Parts, n: number): Promise<unknown> {
  const conducted = new Date(Date.UTC(2024, 0, 1) + n * 60_000);
  return parts.publish({ actorId: ACTORS[n % 3] ?? '', conducted, mentions: [READERS[n % 9] ?? ''] });
}

/** What is stored of each feed, and what it is by the actions alone. */
async function feeds({ feedStore, services, session }: Parts) {
  return Promise.all(
    READERS.map(async (userId) => {
      const { entries } = await feedStore.page({ userId, limit: 100 });
      const { edges, state } = await services.readFeed(session(userId), { first: 100 });
      return {
        stored: entries.map(({ actionId }) => actionId),
        read: edges.map(({ node }) => node.actionId),
        state,
      };
    }),
  );
}

async function expectRebuilt(parts: Parts, published: number): Promise<void> {
  const found = await parts.database.collections.actions.find().sort({ conducted: -1 }).toArray();
  expect(found).toHaveLength(published);
  const expected = READERS.map((userId, n) => {
    const followed = ACTORS.filter((_, place) => place !== n % 3);
    const ids = found
      .filter(({ actorId, mentions }) => followed.includes(actorId) || mentions.includes(userId))
      .map(({ _id }) => _id.toHexString());
    return { stored: ids, read: ids, state: 'READY' };
  });
  expect(await feeds(parts)).toEqual(expected);
}

/** Opens when so many wait at it. */
function meeting(size: number): { readonly arrive: () => Promise<void>; readonly met: Promise<void> } {
  let open = (): void => undefined;
  const met = new Promise<void>((resolve) => {
    open = resolve;
  });
  let waiting = 0;
  return {
    met,
    arrive: () => {
      waiting += 1;
      if (waiting >= size) open();
      return met;
    },
  };
}

test.each(['items', 'capped', 'time-buckets', 'redis'])(
  'feeds of the model %s are rebuilt concurrently, and contain what is published meanwhile',
  async (model) => {
    await using parts = await openParts({ model });
    await makeWorld(parts);
    const { arrive, met } = meeting(2);
    await using rebuilds = parts.rebuildWorker({
      feedStore: {
        ...parts.feedStore,
        // The second one begins while the first one is under way.
        page: (query) => arrive().then(() => parts.feedStore.page(query)),
      },
    });
    await parts.repositories.feedRebuilds.markDue(READERS, new Date());
    rebuilds.start();
    const publishing = Promise.all(Array.from({ length: 12 }, (_, n) => publish(parts, 12 + n)));
    await met;
    await publishing;
    await using fanOuts = parts.worker();
    fanOuts.start();
    await parts.idle();
    await expectRebuilt(parts, 24);
  },
);

test('rebuilds of a worker that died are taken over, and no other is started twice', async () => {
  await using parts = await openParts();
  await makeWorld(parts);
  const { feedRebuilds: repository } = parts.repositories;
  let die = (_error: Error): void => undefined;
  const death = new Promise<never>((_resolve, reject) => {
    die = reject;
  });
  const { arrive, met } = meeting(2);
  await using dead = parts.rebuildWorker(
    {
      feedRebuilds: { ...repository, renewRebuild: () => death },
      feedStore: { ...parts.feedStore, page: () => arrive().then(() => death) },
    },
    {
      fanOut: { leaseMs: 60_000 },
      logger: reporting(
        () => undefined,
        () => expect.unreachable(),
      ),
    },
  );
  using _end = new OnDispose(() => {
    die(new Crash('dead'));
  });
  await repository.markDue(READERS, new Date());
  dead.start();
  await met;
  const begun = await parts.database.collections.feeds.countDocuments({ 'rebuild.owner': { $exists: true } });
  expect(begun).toBe(READERS.length);

  const rebuilt: string[] = [];
  const afterLease = (now: Date): Date => new Date(now.getTime() + 120_000);
  await using other = parts.rebuildWorker(
    {
      feedRebuilds: {
        ...repository,
        claimDue: (now, ...how) => repository.claimDue(afterLease(now), ...how),
      },
    },
    {
      fanOut: { leaseMs: 600_000 },
      logger: { ...FAILING, debug: ({ userId }) => rebuilt.push(String(userId)) },
    },
  );
  other.start();
  await parts.idle();
  expect(rebuilt.sort()).toEqual(READERS);
  await expectRebuilt(parts, 12);
});

test('a failure of one lets the concurrent ones finish, and is reported once', async () => {
  await using parts = await openParts();
  await makeWorld(parts);
  const reported: unknown[] = [];
  const broken = new Error('Broken');
  let failures = 3;
  await using rebuilds = parts.rebuildWorker(
    {
      feedStore: {
        ...parts.feedStore,
        page: (query) => (--failures >= 0 ? Promise.reject(broken) : parts.feedStore.page(query)),
      },
    },
    // Those that failed are due again when it ends.
    { fanOut: { leaseMs: 2_000 }, logger: reporting((error) => reported.push(error)) },
  );
  await parts.repositories.feedRebuilds.markDue(READERS, new Date());
  rebuilds.start();
  await parts.idle();
  expect(new Set(reported)).toEqual(new Set([broken]));
  await expectRebuilt(parts, 12);
});
