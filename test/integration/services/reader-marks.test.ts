import { expect, onTestFinished, test, vi } from 'vitest';
import type { Core } from '../../../src/core/core.ts';
import type { PublishActionInput } from '../../../src/core/shapes.ts';
import { report } from '../../../src/features/reports/reports.ts';
import { openParts, type Parts } from '../../support/parts.ts';

test('hides an item from its own reader only, also when it is delivered again, until it is unhidden', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({ scope: 'PUBLIC', mentions: ['ann', 'bob'] });
  await parts.fanOut();
  await parts.services.hideFeedItem(parts.session('ann'), action.id);
  await parts.services.hideFeedItem(parts.session('ann'), action.id);
  await parts.repositories.fanOuts.requestPass(action.id, new Date());
  await parts.fanOut();
  expect(await parts.feedOf('ann')).toEqual([]);
  expect(await parts.services.countUnread(parts.session('ann'))).toEqual({ count: 0, isExact: true });
  expect(await parts.feedOf('bob')).toEqual([action.id]);
  await parts.services.unhideFeedItem(parts.session('ann'), action.id);
  expect(await parts.feedOf('ann')).toEqual([action.id]);
});

test('what comes after a mark is unread, and what came before is read, while the clock stands still', async () => {
  await using parts = await openParts();
  const { services } = parts;
  const ann = () => parts.session('ann');
  const stopped = vi.spyOn(Date, 'now').mockReturnValue(Date.now());
  onTestFinished(() => stopped.mockRestore());
  const publish = () => parts.publish({ scope: 'PUBLIC', mentions: ['ann'] });
  const unread = async (): Promise<number> => {
    await parts.fanOut();
    return (await services.countUnread(ann())).count;
  };
  const { action } = await publish();
  await services.markFeedRead(ann(), action.latest);
  await publish();
  expect(await unread()).toBe(1);
  await services.markFeedRead(ann(), new Date(8e15));
  expect(await unread()).toBe(0);
  const { action: last } = await publish();
  await services.markItemsRead(ann(), [last.id]);
  expect(await unread()).toBe(0);
  await services.addInteraction(parts.session('bob'), { actionId: last.id, kind: 'COMMENT' });
  expect(await unread()).toBe(1);
});

interface LetIn {
  readonly parts: Parts;
  readonly actionId: string;
}

/** What keeps an action from Ann until she has marked her feed as read, and what lets it in then. */
const LETS_IN: readonly {
  readonly name: string;
  readonly input?: Partial<PublishActionInput>;
  readonly keepsOut?: (letIn: LetIn) => Promise<unknown>;
  readonly letsIn: (letIn: LetIn) => Promise<unknown>;
  readonly isUnread: boolean;
}[] = [
  {
    name: 'a moderator has hidden it, and shows it again',
    keepsOut: ({ parts, actionId }) => parts.services.hideAction(parts.session('mo', 'moderator'), actionId),
    letsIn: ({ parts, actionId }) => parts.services.unhideAction(parts.session('mo', 'moderator'), actionId),
    isUnread: true,
  },
  {
    name: 'reports have hidden it, and are dismissed',
    async keepsOut({ parts, actionId }) {
      const core: Core = { ...parts.core, reportHideAfter: 1 };
      const what = { actionId, interactionId: null, memberId: null, reason: 'spam' };
      await report(core, parts.session('cid'), what);
    },
    async letsIn({ parts }) {
      const moderator = parts.session('mo', 'moderator');
      const { edges } = await parts.services.readReports(moderator, {});
      const dismissed = { outcome: 'fine', isDismissed: true };
      for (const { node } of edges) await parts.services.resolveReport(moderator, node.id, dismissed);
    },
    isUnread: true,
  },
  {
    name: 'she mutes its actor, and ends that',
    keepsOut: ({ parts }) => parts.services.addMute(parts.session('ann'), { memberId: 'bob' }, null),
    letsIn: ({ parts }) => parts.services.removeMute(parts.session('ann'), { memberId: 'bob' }),
    isUnread: false,
  },
  {
    name: 'she blocks its actor, and ends that',
    keepsOut: ({ parts }) => parts.services.blockMember(parts.session('ann'), 'bob'),
    letsIn: ({ parts }) => parts.services.unblockMember(parts.session('ann'), 'bob'),
    isUnread: false,
  },
  {
    name: 'she follows its ref, with what is past',
    input: { mentions: [] },
    letsIn: ({ parts }) => parts.services.follow(parts.session('ann'), 'site', 10),
    isUnread: false,
  },
  {
    name: 'an edit mentions her',
    input: { mentions: [] },
    letsIn: ({ parts, actionId }) =>
      parts.services.updateAction(parts.session('bob'), actionId, { mentions: ['ann'] }),
    isUnread: false,
  },
];

test.each(LETS_IN)(
  'what comes in below the read mark: $name; unread: $isUnread',
  async ({ input, keepsOut, letsIn, isUnread }) => {
    await using parts = await openParts();
    const { services } = parts;
    const ann = () => parts.session('ann');
    const refs = [{ id: 'site', type: 'site', label: 'Site' }];
    const kept = await parts.publish({ actorId: 'bob', scope: 'PUBLIC', mentions: ['ann'], refs, ...input });
    const letIn = { parts, actionId: kept.action.id };
    await parts.fanOut();
    await keepsOut?.(letIn);
    const { action: seen } = await parts.publish({ scope: 'PUBLIC', mentions: ['ann'] });
    await parts.fanOut();
    expect(await parts.feedOf('ann')).toEqual([seen.id]);
    await services.markFeedRead(ann(), new Date(8e15));
    await letsIn(letIn);
    await parts.fanOut();
    const places = isUnread ? [kept.action.id, seen.id] : [seen.id, kept.action.id];
    expect(await parts.feedOf('ann')).toEqual(places);
    expect(await services.countUnread(ann())).toEqual({ count: isUnread ? 1 : 0, isExact: true });
  },
);

test('does not distinguish an invisible item from a missing one', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({ scope: 'RESTRICTED', recipients: ['bob'] });
  for (const id of [action.id, 'f'.repeat(24)]) {
    await expect(parts.services.hideFeedItem(parts.session('ann'), id)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    await expect(parts.services.unhideFeedItem(parts.session('ann'), id)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  }
  expect(await parts.database.collections.itemMarks.countDocuments()).toBe(0);
});
