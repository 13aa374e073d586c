import { ObjectId } from 'mongodb';
import { describe, expect, test } from 'vitest';
import type { FeedFilter, FeedOrder, FeedPage, PageArgs } from '../../../src/core/shapes.ts';
import { readerActionId } from '../../../src/storage/documents/reader-action-id.ts';
import { commandsOf } from '../../support/commands.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { someOf } from '../../support/seed.ts';

/** The stored feed has fewer than a response looks at in vain; below are more than one look at the source takes. */
const CAP = 700;
const LENGTH = 3_500;
/** One of so many is by somebody else, of another type, with a tag and a ref of its own. */
const RARE = 500;
const MINUTE = 60_000;

const rare = Array.from({ length: LENGTH / RARE }, (_, n) => (n + 1) * RARE - 1);

/** A reader whose feed has 3,500 entries, a minute apart, and the ids of their actions, newest first. */
async function feedOfMany(length = LENGTH) {
  const parts = await openParts({ cap: CAP, monitorCommands: true });
  const { actions } = parts.database.collections;
  const publish = async (actorId: string, more: object) => {
    const { action } = await parts.publish({ actorId, scope: 'PUBLIC', ...more });
    return action.id;
  };
  await parts.services.followMany(parts.service, [{ followerId: 'ann', refId: 'place' }]);
  const templates = [
    await publish('loud', { refs: [{ id: 'place', type: 'place', label: 'Place' }] }),
    await publish('quiet', {
      refs: ['place', 'corner'].map((id) => ({ id, type: 'place', label: id })),
      descriptor: {
        applicationRating: {
          ...{ raterId: 'quiet', raterName: 'Quiet', applicantId: 'applicant', applicantName: 'Applicant' },
          ...{ positionId: 'position', positionName: 'Position', ratingScore: 5, ratingText: 'Good.' },
          tags: ['seldom'],
        },
      },
    }),
  ];
  await parts.fanOut();
  const found = await Promise.all(templates.map((id) => actions.findOneAndDelete({ _id: new ObjectId(id) })));
  const newest = Date.now() - MINUTE;
  const since = new Date(newest - (length + 1) * MINUTE);
  await parts.database.collections.follows.updateMany({}, { $set: { spans: [{ since }] } });
  const documents = Array.from({ length }, (_, index) => {
    const template = found[rare.includes(index) ? 1 : 0];
    if (template == null) throw new Error('The template is not there');
    const time = new Date(newest - index * MINUTE);
    return {
      ...template,
      _id: new ObjectId(),
      conducted: time,
      recorded: time,
      latest: time,
      groupKey: String(index),
    };
  });
  await actions.insertMany(documents);
  await parts.services.rebuildFeed(parts.admin, 'ann');
  await parts.fanOut();
  return { parts, newest, ids: documents.map(({ _id }) => _id.toHexString()) };
}

/** All pages, and how many entries each has. */
async function walk(read: (args: PageArgs) => Promise<Pick<FeedPage, 'edges' | 'hasMore' | 'end'>>) {
  const ids: string[] = [];
  const sizes: number[] = [];
  let after: string | null = null;
  for (;;) {
    const page = await read({ first: 25, after });
    ids.push(...page.edges.map(({ node }) => node.actionId));
    sizes.push(page.edges.length);
    if (!page.hasMore) return { ids, sizes };
    expect(page.end).not.toBe(after);
    after = page.end;
  }
}

const readFeed = (parts: Parts, filter: FeedFilter | null, order: FeedOrder) => (args: PageArgs) =>
  parts.services.readFeed(parts.session('ann'), { ...args, filter, order });

async function archiveAllBut(parts: Parts, ids: readonly string[], left: readonly string[]): Promise<void> {
  const { itemMarks } = parts.database.collections;
  const isLeft = new Set(left);
  const state = 'ARCHIVED' as const;
  const at = new Date();
  await itemMarks.insertMany(
    ids.filter((id) => !isLeft.has(id)).map((id) => ({ _id: readerActionId('ann', id), state, at })),
  );
  await parts.repositories.feeds.markHasMarks('ann');
}

describe('of a feed of which few entries match, pages go on where they stopped, and miss nothing', () => {
  test.each(someOf(['RELEVANCY', 'RECENT'] as const, 1))('in order %s', async (order) => {
    const { parts, ids } = await feedOfMany();
    await using _parts = parts;
    const few = rare.map((index) => ids[index]);
    const filters: FeedFilter[] = [
      { types: ['ApplicationRating'] },
      { actorIds: ['quiet'] },
      { tags: ['seldom'] },
      { tags: ['seldom'], types: ['ApplicationRating'], unreadOnly: true },
      { refId: 'corner' },
    ];
    for (const filter of filters) {
      const { ids: shown, sizes } = await walk(readFeed(parts, filter, order));
      expect(shown).toEqual(few);
      // By an index of its own, all are found at once.
      if (filter.refId !== undefined) expect(sizes).toEqual([few.length]);
      // What is unread is a list of its own, of which this order reads all.
      else if (filter.unreadOnly !== true || order === 'RELEVANCY') expect(sizes.length).toBeGreaterThan(1);
    }
    await parts.services.addMute(parts.session('ann'), { memberId: 'loud' });
    expect((await walk(readFeed(parts, null, order))).ids).toEqual(few);
    await parts.services.removeMute(parts.session('ann'), { memberId: 'loud' });
    await parts.services.blockMember(parts.session('ann'), 'loud');
    expect((await walk(readFeed(parts, null, order))).ids).toEqual(few);
    await parts.services.unblockMember(parts.session('ann'), 'loud');
    const left = [3, 900, 3_400].map((index) => ids[index] ?? '');
    await archiveAllBut(parts, ids, left);
    expect((await walk(readFeed(parts, null, order))).ids).toEqual(left);
  });

  test('in groups', async () => {
    const { parts, newest } = await feedOfMany();
    await using _parts = parts;
    const groups: number[] = [];
    const found = await walk(async (args) => {
      const filter = { types: ['ApplicationRating'] };
      const page = await parts.services.readFeedGroups(parts.session('ann'), { ...args, filter });
      groups.push(...page.edges.map(({ node }) => node.relevancy.getTime()));
      return { ...page, edges: [] };
    });
    expect(found.sizes.length).toBeGreaterThan(1);
    expect(groups).toEqual(rare.map((index) => newest - index * MINUTE));
  });

  test('and counts are what was found, and inexact', async () => {
    const { parts, ids } = await feedOfMany();
    await using _parts = parts;
    const counted = await parts.services.readFeed(parts.session('ann'), {
      ...{ first: 1, withTotal: true, withUnread: true, filter: { types: ['ApplicationRating'] } },
    });
    for (const count of [await counted.countTotal(), await counted.countUnread()]) {
      expect(count.isExact).toBe(false);
      expect(count.count).toBeLessThan(rare.length);
    }
    const left = [3, 900, 3_400].map((index) => ids[index] ?? '');
    await archiveAllBut(parts, ids, left);
    expect(await parts.services.countUnread(parts.session('ann'))).toEqual({ count: 1, isExact: false });
    const all = await parts.services.readFeed(parts.session('ann'), { first: 1, withTotal: true });
    expect(await all.countTotal()).toEqual({ count: 1, isExact: false });
  });

  test('and each page takes few commands and documents, however many entries there are', async () => {
    const { parts } = await feedOfMany();
    await using _parts = parts;
    let after: string | null = null;
    for (;;) {
      let page: FeedPage | undefined;
      const commands = await commandsOf(parts.database, async () => {
        page = await readFeed(parts, { types: ['ApplicationRating'] }, 'RELEVANCY')({ first: 25, after });
      });
      // The reader and the first entries, those that follow, and the actions that may match.
      expect(commands.length).toBeLessThanOrEqual(30);
      if (page?.hasMore !== true) break;
      after = page.end;
    }
  });
});

test('in the order of time, the top of an inbox that is kept empty is one command, and a count stops where its page does', async () => {
  const { parts, ids } = await feedOfMany();
  await using _parts = parts;
  const left = ids.filter((_, index) => [3, 900, 3_400].includes(index));
  await archiveAllBut(parts, ids, left);
  const read = (withTotal: boolean) =>
    parts.services.readFeed(parts.session('ann'), { order: 'RECENT', withTotal });
  let page: FeedPage = await read(false);
  for (let time = 0; time < 2; time += 1) {
    const commands = await commandsOf(parts.database, async () => {
      page = await read(false);
    });
    expect(page.edges.map(({ node }) => node.actionId)).toEqual(left.slice(0, 1));
    expect(page.hasMore).toBe(true);
    if (time > 0) expect(commands.map(({ name }) => name)).toEqual(['aggregate']);
  }
  expect(await (await read(true)).countTotal()).toEqual({ count: 1, isExact: false });
});

test('reads a feed below its floor whose actions have all the same time', async () => {
  const { parts, ids } = await feedOfMany(1_200);
  await using _parts = parts;
  const time = new Date(Date.now() - 100 * MINUTE);
  await parts.database.collections.actions.updateMany(
    {},
    { $set: { conducted: time, recorded: time, latest: time } },
  );
  await parts.services.rebuildFeed(parts.admin, 'ann');
  await parts.fanOut();
  const byId = [...ids].sort().reverse();
  for (const order of ['RELEVANCY', 'RECENT'] as const) {
    const shown = await walk((args) => readFeed(parts, null, order)({ ...args, first: 100 }));
    expect(shown.ids).toEqual(byId);
  }
});
