import { afterEach, beforeEach, expect, test } from 'vitest';
import { eraseMember } from '../../../parts/erasure/src/erase-member.ts';
import type { Core } from '../../../src/core/core.ts';
import { blockMember, unblockMember } from '../../../src/features/blocks/blocks.ts';
import { markItemsRead } from '../../../src/features/marks/marks.ts';
import { pinAction } from '../../../src/features/moderation/pin-action.ts';
import { publishAction } from '../../../src/features/publish/publish-action.ts';
import { erasureParts, finishErasures, placesOf } from '../../support/erasure.ts';
import { hold, type Held } from '../../support/held.ts';
import { openParts, type Parts } from '../../support/parts.ts';

let parts: Parts;
beforeEach(async () => void (parts = await openParts()));
afterEach(async () => parts[Symbol.asyncDispose]());

const SITE = { id: 'site', type: 'site', label: 'Site' };
const ORDERS = [{ order: 'between its read and its write' }, { order: 'before it' }] as const;
type Order = (typeof ORDERS)[number]['order'];

/** A call and what others do, which comes first or while the call waits before its write. */
async function inOrder(
  order: Order,
  call: (held: Held | null) => Promise<unknown>,
  others: () => Promise<unknown>,
): Promise<unknown> {
  if (order === 'before it') {
    await others();
    return call(null);
  }
  const held = hold();
  const done = call(held);
  await held.isReached;
  await others();
  held.letGo();
  return done;
}

const pinnedFor = async (userId: string, role: 'user' | 'admin' = 'user') =>
  (await parts.services.readPinned(parts.session(userId, role), 'site')).map(({ id }) => id);

function pin(actionId: string, held: Held | null): Promise<unknown> {
  const { pins } = parts.core;
  const core: Core = {
    ...parts.core,
    pins: { ...pins, pin: async (...args) => (await held?.wait(), pins.pin(...args)) },
  };
  return pinAction(core, parts.session('root', 'admin'), 'site', actionId);
}

test.each(ORDERS)(
  'a pin, and a hide $order: pinned and hidden, and shown with the action',
  async ({ order }) => {
    const { services, session } = parts;
    const { action } = await parts.publish({ scope: 'PUBLIC', refs: [SITE] });
    const admin = session('root', 'admin');
    await inOrder(
      order,
      (held) => pin(action.id, held),
      () => services.hideAction(admin, action.id, null),
    );
    expect(await pinnedFor('ann')).toEqual([]);
    await services.unhideAction(admin, action.id);
    expect(await pinnedFor('ann')).toEqual([action.id]);
  },
);

test('a pin of what is deleted while it is on its way is shown to nobody, and makes room', async () => {
  const { services, session } = parts;
  const actions = [];
  for (let n = 0; n < 4; n += 1)
    actions.push((await parts.publish({ scope: 'PUBLIC', refs: [SITE] })).action.id);
  const [deleted = '', ...others] = actions;
  const admin = session('root', 'admin');
  await inOrder(
    'between its read and its write',
    (held) => pin(deleted, held),
    async () => {
      await services.deleteAction(admin, deleted);
      await parts.fanOut();
    },
  );
  expect(await pinnedFor('root', 'admin')).toEqual([]);
  for (const id of others) await pin(id, null);
  expect(await pinnedFor('ann')).toEqual(others.toReversed());
});

test.each([
  { order: 'between its read and its write', names: { mentions: ['gone'] } },
  { order: 'between its read and its write', names: { actorId: 'gone' } },
  { order: 'between its read and its write', names: { refs: [{ ...SITE, id: 'gone' }] } },
] as const)(
  'a publication with $names, and an erasure $order: nothing names the member in the end',
  async ({ order, names }) => {
    await parts.services.upsertMembers(parts.service, [{ memberId: 'gone', name: 'Gonda Vanisher' }]);
    const dependencies = erasureParts(parts.database);
    const { publishing } = parts.core;
    await inOrder(
      order,
      (held) => {
        const insert: typeof publishing.insert = async (...args) => (
          await held?.wait(),
          publishing.insert(...args)
        );
        const core: Core = { ...parts.core, publishing: { ...publishing, insert } };
        const descriptor = { posted: { postId: 'p' } };
        return publishAction(core, parts.service, { actorId: 'bob', scope: 'PUBLIC', descriptor, ...names });
      },
      // Its first pass; the second comes when what had begun before has ended.
      () => eraseMember(dependencies, parts.admin, 'gone', Infinity),
    );
    await finishErasures(parts, dependencies);
    await parts.fanOut();
    expect(await placesOf(parts.database, 'gone')).toEqual([]);
    expect(await parts.database.collections.actions.countDocuments({ isDeleted: false })).toBe(1);
  },
);

test.each([
  { order: 'between its read and its write', unread: 1 },
  { order: 'before it', unread: 0 },
] as const)(
  'a mark as read, and a comment that lifts the item $order: $unread unread',
  async ({ order, unread }) => {
    const { services, session } = parts;
    const ann = () => session('ann');
    const conducted = new Date(Date.now() - 3_600_000);
    const { action } = await parts.publish({ scope: 'PUBLIC', mentions: ['ann'], conducted });
    await parts.fanOut();
    await inOrder(
      order,
      (held) => {
        const { itemMarks } = parts.core;
        const markRead: typeof itemMarks.markRead = async (...args) => (
          await held?.wait(),
          itemMarks.markRead(...args)
        );
        return markItemsRead({ ...parts.core, itemMarks: { ...itemMarks, markRead } }, ann(), [action.id]);
      },
      async () => {
        await services.addInteraction(session('bob'), { actionId: action.id, kind: 'COMMENT', text: 'x' });
        await parts.fanOut();
      },
    );
    expect(await services.countUnread(ann())).toEqual({ count: unread, isExact: true });
  },
);

test.each([
  { order: 'between its read and its write', mentions: ['MENTION'] },
  { order: 'before it', mentions: [] },
] as const)(
  'an action that mentions somebody, and their block $order: mentions after its end $mentions',
  async ({ order, mentions }) => {
    const { services, session } = parts;
    const block = () => blockMember(parts.core, session('ann'), 'bob');
    const listed = async () => {
      const { edges } = await services.readNotifications(session('ann'), { first: 9, withCounts: false });
      return edges.map(({ node }) => node.group.kind);
    };
    await inOrder(
      order,
      (held) => {
        const { publishing } = parts.core;
        const insert: typeof publishing.insert = async (...args) => (
          await held?.wait(),
          publishing.insert(...args)
        );
        const core: Core = { ...parts.core, publishing: { ...publishing, insert } };
        const descriptor = { posted: { postId: 'p' } };
        const input = { scope: 'PUBLIC', mentions: ['ann'], descriptor } as const;
        return publishAction(core, session('bob').identity, input);
      },
      block,
    );
    await parts.fanOut();
    expect([await listed(), await parts.feedOf('ann')]).toEqual([[], []]);
    await unblockMember(parts.core, session('ann'), 'bob');
    expect(await listed()).toEqual(mentions);
    expect((await parts.feedOf('ann')).length).toBe(1);
  },
);
