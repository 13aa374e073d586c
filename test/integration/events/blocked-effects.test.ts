import { expect, test } from 'vitest';
import type { Core } from '../../../src/core/core.ts';
import { addInteraction } from '../../../src/features/interactions/add-interaction.ts';
import { digestJob } from '../../../parts/events/src/jobs/event-mover.ts';
import { decideDue, dueNotifications } from '../../../parts/notifications/src/due.ts';
import { eventMover, moveEvents, poll } from '../../support/events.ts';
import { FAILING, runnerOf } from '../../support/jobs.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { IS_DEEP } from '../../support/seed.ts';

const HOUR_MS = 3_600_000;
/** More than are recorded with what somebody does. */
const MANY = 150;

/** Everything that a member can do on what a third member published, with the comment that the other has written there. */
const DEEDS: Readonly<Record<string, (other: string, comment: string) => object>> = {
  comment: () => ({ kind: 'COMMENT', text: 'x' }),
  'comment that mentions': (other) => ({ kind: 'COMMENT', text: 'x', mentions: [other] }),
  reply: (_other, comment) => ({ kind: 'COMMENT', text: 'x', parentId: comment }),
  like: () => ({ kind: 'LIKE' }),
  reaction: () => ({ kind: 'REACTION', reaction: '👍' }),
  reshare: () => ({ kind: 'RESHARE' }),
};

/** Those that lift also for whom the action does not concern. */
const LIFTING: ReadonlySet<string> = new Set(['comment', 'comment that mentions', 'reply', 'reshare']);

/** What makes a reader's own score of an action. */
const OF_READER: ReadonlySet<string> = new Set(['interactionsWithActor', 'relationship']);

/** Everything by which somebody could notice it. */
async function effectsOn(parts: Parts, userId: string, actionId: string, sent: readonly string[]) {
  const { services, session } = parts;
  const orders: Record<string, unknown> = {};
  for (const order of ['RELEVANCY', 'RECENT', 'TOP'] as const)
    orders[order] = (await services.readFeed(session(userId), { order })).edges.map(({ node }) => [
      node.action.id,
      order === 'RELEVANCY' ? node.relevancy : null,
      node.isUnread,
    ]);
  const { causes, scoreVars } = await services.explainFeedItem(session(userId), actionId, null);
  const page = await services.readNotifications(session(userId), { first: 25, withCounts: true });
  const interactions = await services.listInteractions(session(userId), actionId, { first: 25 });
  return {
    ...{ orders, causes },
    // The rest of it comes from the counts, which are the same for all readers.
    score: Object.entries(scoreVars ?? {}).filter(([name]) => OF_READER.has(name)),
    unread: await services.countUnread(session(userId)),
    badge: await page.countUnseen(),
    notifications: page.edges.map(({ node }) => [node.group.kind, node.group.at, node.group.events.length]),
    interactions: interactions.edges.map(({ node }) => node.id),
    live: sent.filter((id) => id === userId),
    host: await hostEventsFor(parts, userId),
  };
}

const TOLD: ReadonlySet<string> = new Set(['item.delivered', 'notification.due', 'digest.due']);
const DIGESTS = { afterMs: 0, everyMs: 0 };

/** Of deliveries, and of notifications and digests that are due. */
async function hostEventsFor(parts: Parts, userId: string): Promise<string[]> {
  const soon = (): Date => new Date(Date.now() + HOUR_MS);
  await using mover = eventMover(parts.database.collections, {
    env: { NOTIFY_AFTER: '0s' },
    digests: DIGESTS,
  });
  while (await mover.round(soon()));
  const digests = runnerOf((setup) => digestJob(setup, DIGESTS.afterMs), parts.core, {
    countUnread: (memberId: string) => parts.services.countUnread(parts.session(memberId)),
    logger: FAILING,
  });
  while (await digests.round(soon()));
  await using worker = runnerOf((setup) => dueNotifications(setup, decideDue), parts.core, {
    ...{ logger: FAILING, env: { NOTIFY_AFTER: '0s' } },
  });
  while (await worker.round(soon()));
  await moveEvents(parts.database.collections);
  const types: string[] = [];
  for await (const { type, data } of poll(parts, { after: null }))
    if (JSON.stringify(data).includes(`"${userId}"`) && TOLD.has(type)) types.push(type);
  return types;
}

const SIDES = [
  ['ann', 'bob'],
  ['bob', 'ann'],
] as const;

const CASES = Object.keys(DEEDS).flatMap((deed, n) =>
  SIDES.flatMap(([by, who], side) =>
    // A usual run does each deed from both sides, from one of them with many blocks.
    (IS_DEEP ? [0, MANY] : [(n + side) % 2 === 0 ? 0 : MANY]).map((blockers) => ({
      deed,
      by,
      who,
      blockers,
    })),
  ),
);

test.each(CASES)(
  'a $deed by $who has no effect on $by, with whom there is a block, and has on others (blocked by $blockers others)',
  async ({ deed, by: me, who: them, blockers }) => {
    await using parts = await openParts({ recordsEvents: true });
    const { services, session } = parts;
    for (const userId of ['ann', 'bob', 'dan']) await services.follow(session(userId), 'cid', 0);
    const actionId = (
      await parts.publish({ actorId: 'cid', scope: 'PUBLIC', conducted: new Date(Date.now() - 10 * HOUR_MS) })
    ).action.id;
    const newer = (await parts.publish({ actorId: 'cid', scope: 'PUBLIC' })).action.id;
    const comments: Record<string, string> = {};
    for (const userId of [me, 'dan'])
      comments[userId] = (
        await services.addInteraction(session(userId), { actionId, kind: 'COMMENT', text: 'first' })
      ).interaction.id;
    await parts.fanOut();
    if (blockers > 0) {
      await parts.core.feeds.markBlocks([them]);
      await parts.core.collections.blocks.insertMany(
        Array.from({ length: blockers }, (_, n) => ({
          ...{ _id: { userId: them, otherId: `blocker${String(n)}` }, other: new Date(0) },
        })),
      );
    }
    await services.blockMember(session('ann'), 'bob');
    await parts.fanOut();
    for (const userId of [me, 'dan']) await services.markItemsRead(session(userId), [actionId, newer]);
    const sent: string[] = [];
    const liveLog: Core['liveLog'] = {
      ...parts.core.liveLog,
      watched: (userIds) => Promise.resolve([...userIds]),
      append: (entries) => Promise.resolve(void sent.push(...entries.map(({ userId }) => userId))),
    };
    const before = {
      me: await effectsOn(parts, me, actionId, []),
      dan: await effectsOn(parts, 'dan', actionId, []),
    };
    const other = deed === 'reply' ? 'dan' : me;
    const given = DEEDS[deed]?.(other, comments[other] ?? '') ?? {};
    await addInteraction({ ...parts.core, liveLog }, session(them), { actionId, kind: 'LIKE', ...given });
    await using worker = parts.worker({}, { liveLog });
    worker.start();
    await parts.idle();
    const [mine, others] = [
      await effectsOn(parts, me, actionId, sent),
      await effectsOn(parts, 'dan', actionId, sent),
    ];
    // A reshare changes who has the action: all are notified who had it before.
    expect(deed === 'reshare' ? { ...mine, live: [] } : mine).toEqual(before.me);
    expect(others).not.toEqual(before.dan);
    if (LIFTING.has(deed)) expect(others.orders['RELEVANCY']).not.toEqual(before.dan.orders['RELEVANCY']);
  },
);

test.each(SIDES)(
  'what a third member replies has the effect of any comment of theirs on %s, also as a reply to %s, with whom there is a block',
  async (me, them) => {
    await using parts = await openParts({ recordsEvents: true });
    const { services, session } = parts;
    await services.follow(session(me), 'cid', 0);
    const conducted = new Date(Date.now() - 10 * HOUR_MS);
    const { action } = await parts.publish({ actorId: 'cid', scope: 'PUBLIC', conducted });
    const comment = async (by: string, parentId: string | null = null) =>
      (
        await services.addInteraction(session(by), {
          ...{ actionId: action.id, kind: 'COMMENT', text: 'x', parentId },
        })
      ).interaction.id;
    const theirs = await comment(them);
    await parts.fanOut();
    await services.blockMember(session('ann'), 'bob');
    await services.markItemsRead(session(me), [action.id]);
    const reply = await comment('dan', theirs);
    await parts.fanOut();
    const found = await effectsOn(parts, me, action.id, []);
    expect(found).toMatchObject({ unread: { count: 1 }, badge: { count: 0 }, notifications: [] });
    expect(found.interactions).toEqual([reply]);
    expect(found.causes.filter(({ kind }) => kind === 'COMMENT').length).toBe(2);
  },
);
