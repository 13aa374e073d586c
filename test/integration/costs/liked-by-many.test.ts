import { ObjectId, type CommandSucceededEvent } from 'mongodb';
import { expect, test } from 'vitest';
import { DEFAULT_WEIGHTS, relevancyFor } from '../../../src/domain/relevancy.ts';
import { raiseFloors } from '../../../src/feed/trim-feeds.ts';
import { openParts, type Parts } from '../../support/parts.ts';

const DEPARTMENTS = 5;
const PAGE = 10;
const READERS = [
  { userId: 'ann', departmentId: 'd3', supervisorId: 'u7' },
  { userId: 'bob', departmentId: null, supervisorId: 'u7' },
  { userId: 'cid', departmentId: null, supervisorId: null },
  { userId: 'dan', departmentId: null, supervisorId: null },
];

/** An action among others of the last days, with so many likes, by people of a few departments. */
async function publishLiked(parts: Parts, likes: number): Promise<void> {
  const { members, interactions } = parts.database.collections;
  const now = Date.now();
  await parts.services.followMany(parts.service, [
    ...READERS.map(({ userId }) => ({ followerId: userId, refId: 'site' })),
    { followerId: 'dan', refId: 'svc' },
  ]);
  await members.insertMany(
    READERS.map(({ userId, departmentId, supervisorId }) => ({
      ...{ _id: userId, name: userId, teamId: null, teamSince: new Date(0) },
      ...{ departmentId, departmentSince: new Date(0), supervisorId },
    })),
  );
  for (let n = 0; n < PAGE; n += 1) {
    const { action } = await parts.publish({
      refs: [{ id: 'site', type: 'site', label: 'Site' }],
      conducted: new Date(now - (n + 1) * 86_400_000),
    });
    if (n % 3 > 0) continue;
    await parts.services.addInteraction(parts.session('svc', 'admin'), {
      actionId: action.id,
      kind: 'RESHARE',
    });
    // Below what is stored, for who is not concerned.
    const isMost = n === PAGE - 1;
    await interactions.insertMany(
      Array.from({ length: isMost ? likes : 3 }, (_, like) => ({
        _id: new ObjectId(),
        actionId: new ObjectId(action.id),
        key: `LIKE:u${String(like)}`,
        actorId: `u${String(like)}`,
        departmentIds: [`d${String(like % DEPARTMENTS)}`],
        kind: 'LIKE' as const,
        at: new Date(now - 3_600_000 + like),
      })),
    );
  }
  await parts.fanOut();
}

/** Documents of interactions that the database brings while it works. */
async function broughtBy(parts: Parts, work: () => Promise<unknown>): Promise<number> {
  let documents = 0;
  const count = ({ commandName, reply }: CommandSucceededEvent): void => {
    const { cursor } = reply as {
      readonly cursor?: {
        /** Not there in an answer that is kept in bytes: that of a page, which is not of interactions. */
        readonly ns?: string;
        readonly firstBatch?: unknown[];
        readonly nextBatch?: unknown[];
      };
    };
    if (!['aggregate', 'find', 'getMore'].includes(commandName)) return;
    if (cursor?.ns?.endsWith('.interactions') !== true) return;
    documents += (cursor.firstBatch ?? cursor.nextBatch ?? []).length;
  };
  const { client } = parts.database.db;
  client.on('commandSucceeded', count);
  try {
    await work();
  } finally {
    client.off('commandSucceeded', count);
  }
  return documents;
}

test('a page from the source reads a document per department, not per like of 10,000', async () => {
  await using parts = await openParts({ monitorCommands: true, cap: 2 });
  await publishLiked(parts, 10_000);
  // Deliveries check the length of a feed by chance only.
  await raiseFloors(
    parts.core,
    READERS.map(({ userId }) => userId),
    () => 0,
  );
  for (const reader of READERS) {
    let page: Awaited<ReturnType<Parts['services']['readFeed']>> | undefined;
    const documents = await broughtBy(parts, async () => {
      page = await parts.services.readFeed(parts.session(reader.userId), { first: PAGE });
    });
    expect(documents).toBeGreaterThan(0);
    expect(documents).toBeLessThan(100);
    // Each stands where all of its interactions, one by one, put it.
    const ids = page?.edges.map(({ node }) => node.actionId) ?? [];
    expect(ids).toHaveLength(PAGE);
    const { actions, follows, interactions } = parts.repositories;
    const summaries = await interactions.summaries(ids);
    const own = { ...reader, follows: (await follows.all([reader.userId])).get(reader.userId) ?? [] };
    const places = (await actions.findByIds(ids)).map((action): [string, Date] => [
      action.id,
      relevancyFor(action, summaries.get(action.id)?.groups ?? [], DEFAULT_WEIGHTS)(own),
    ]);
    expect(new Map(page?.edges.map(({ node }) => [node.actionId, node.relevancy]))).toEqual(new Map(places));
  }
});
