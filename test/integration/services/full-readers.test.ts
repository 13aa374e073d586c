import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { readerActionId } from '../../../src/storage/documents/reader-action-id.ts';
import type { ItemMarkDocument } from '../../../src/storage/documents/reader-documents.ts';
import { commandsOf } from '../../support/commands.ts';
import { costsOf } from '../../support/operation-costs.ts';
import { openParts, type Parts } from '../../support/parts.ts';

const LENGTH = 1_200;
const CAP = 400;
const MINUTE = 60_000;
const ACTORS = 40;

/** Ann's feed has 1,200 entries by 40 members, a minute apart. Every third she has hidden or archived, and every third marked unread. */
async function fullReader({ blocks, unread }: { blocks: number; unread: number }) {
  const parts = await openParts({ cap: CAP, monitorCommands: true });
  const { actions, follows, itemMarks, blocks: stored, feeds } = parts.database.collections;
  await parts.services.followMany(parts.service, [{ followerId: 'ann', refId: 'place' }]);
  const published = await parts.publish({
    ...{ actorId: 'bob', scope: 'PUBLIC', refs: [{ id: 'place', type: 'place', label: 'Place' }] },
  });
  await parts.fanOut();
  const template = await actions.findOneAndDelete({ _id: new ObjectId(published.action.id) });
  if (template === null) throw new Error('The template is not there');
  const newest = Date.now() - MINUTE;
  await follows.updateMany({}, { $set: { spans: [{ since: new Date(newest - LENGTH * MINUTE) }] } });
  const _ids = Array.from({ length: LENGTH }, () => new ObjectId()).reverse();
  const made = _ids.map((_id, index) => {
    const time = new Date(newest - index * MINUTE);
    const actorId = `actor${String(index % ACTORS)}`;
    return {
      ...template,
      _id,
      actorId,
      conducted: time,
      recorded: time,
      latest: time,
      groupKey: String(index),
    };
  });
  await actions.insertMany(made);
  await parts.services.rebuildFeed(parts.admin, 'ann');
  await parts.fanOut();
  const ids = _ids.map((id) => id.toHexString());
  const at = new Date();
  const marks = ids.flatMap((id, index): ItemMarkDocument[] => {
    const _id = readerActionId('ann', id);
    if (index % 3 === 0) return [{ _id, state: index % 2 === 0 ? 'HIDDEN' : 'ARCHIVED', at }];
    return index % 3 === 1 && index < 3 * unread ? [{ _id, isUnread: true }] : [];
  });
  await itemMarks.insertMany(marks);
  await parts.core.feeds.markHasMarks('ann', { hasUnreadMarks: true });
  // Of the members who publish she blocks one and mutes one.
  await stored.insertMany(
    Array.from({ length: blocks }, (_, n) => ({
      ...{ _id: { userId: 'ann', otherId: n === 0 ? 'actor7' : `nobody${String(n)}` }, own: at },
    })),
  );
  await parts.core.feeds.markBlocks(['ann']);
  await parts.core.feeds.renewBlocks(['ann']);
  const mutes = Array.from({ length: 1_000 }, (_, n) =>
    n < 50
      ? { kind: 'PHRASE' as const, value: `never said ${String(n)}`, text: 'Never said' }
      : { kind: 'MEMBER' as const, value: n === 50 ? 'actor8' : `somebody${String(n)}` },
  );
  await feeds.updateOne({ _id: 'ann' }, { $set: { mutes } });
  const read = 30;
  await parts.services.markFeedRead(parts.session('ann'), made[read]?.latest ?? at);
  const isShown = (index: number): boolean => index % 3 !== 0 && ![7, 8].includes(index % ACTORS);
  const shown = ids.filter((_id, index) => isShown(index));
  const unreadIds = ids.filter(
    (_id, index) => isShown(index) && (index < read || (index % 3 === 1 && index < 3 * unread)),
  );
  return { parts, shown, unreadIds };
}

const pageOf = async (parts: Parts, unreadOnly = false, after: string | null = null) =>
  parts.services.readFeed(parts.session('ann'), { first: 25, after, filter: { unreadOnly } });

test('a page of a reader who has much of everything takes one command and what it looks at, once it was read', async () => {
  const { parts, shown } = await fullReader({ blocks: 3_000, unread: 400 });
  await using _parts = parts;
  const idsOf = async (): Promise<string[]> => {
    const page = await parts.services.readFeed(parts.session('ann'), { first: 25 });
    return page.edges.map(({ node }) => node.actionId);
  };
  for (let times = 0; times < 2; times += 1) expect(await idsOf()).toEqual(shown.slice(0, 25));
  const commands = await commandsOf(parts.database, idsOf);
  expect(commands.map(({ name, collection }) => `${name} ${collection}`)).toEqual(['aggregate feeds']);
  // The answer of the first command, and at most a mark for each entry of it.
  const { documents } = await costsOf(parts.database, idsOf);
  expect(documents).toBeLessThan(100);
  // What has changed is seen at once.
  await parts.services.hideFeedItem(parts.session('ann'), shown[3] ?? '');
  expect(await idsOf()).toEqual([...shown.slice(0, 3), ...shown.slice(4, 26)]);
  await parts.services.blockMember(parts.session('ann'), 'actor1');
  const [first] = await idsOf();
  expect(first).toBe(shown[1]);
});

test.each([1, 30, 60, 400])('with %i items marked unread, these are counted and listed', async (unread) => {
  const { parts, unreadIds } = await fullReader({ blocks: 150, unread });
  await using _parts = parts;
  const count = await parts.services.countUnread(parts.session('ann'));
  const isExact = unreadIds.length <= 100;
  expect(count).toEqual({ count: Math.min(100, unreadIds.length), isExact });
  const page = await parts.services.readFeed(parts.session('ann'), { first: 1, withUnread: true });
  expect(await page.countUnread()).toEqual(count);
  const listed: string[] = [];
  for (let after: string | null = null; ;) {
    const part = await pageOf(parts, true, after);
    listed.push(...part.edges.map(({ node }) => node.actionId));
    if (!part.hasMore) break;
    after = part.end;
  }
  expect(listed).toEqual(unreadIds);
});

test('the badge takes as many commands and documents, however many items are marked unread', async () => {
  const costs = [];
  for (const unread of [150, 400]) {
    const { parts } = await fullReader({ blocks: 150, unread });
    await using _parts = parts;
    const count = () => parts.services.countUnread(parts.session('ann'));
    for (let times = 0; times < 2; times += 1) await count();
    const { commands, documents } = await costsOf(parts.database, count);
    expect(commands).toBe(1);
    costs.push({ commands, documents });
  }
  expect(costs[1]).toEqual(costs[0]);
});
