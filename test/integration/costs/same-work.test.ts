import { expect, test } from 'vitest';
import { commandsOf } from '../../support/commands.ts';
import { openParts, type Parts, type PartsOptions } from '../../support/parts.ts';
import type { ReaderSession } from '../../../src/feed/session/reader-session.ts';

// How much work an answer is must not tell an action that may not be seen from one that is not there.

const NOWHERE = 'f'.repeat(24);
const ref = (id: string) => ({ id, type: 'site', label: id });

interface Unseen {
  readonly why: string;
  readonly id: string;
  /** A comment on it, by somebody else. */
  readonly commentId: string;
}

async function comment({ services, session }: Parts, actionId: string): Promise<string> {
  const { interaction } = await services.addInteraction(session('admin', 'admin'), {
    ...{ actionId, kind: 'COMMENT', text: 'Well' },
  });
  return interaction.id;
}

/** Actions that Ann may not see, each for a reason of its own, some of them with refs, comments and an entry in her feed. */
async function unseen(parts: Parts): Promise<Unseen[]> {
  const { services } = parts;
  const admin = () => parts.session('admin', 'admin');
  await services.upsertMembers(parts.service, [
    { memberId: 'actor', name: 'Actor', teamId: 't', departmentId: 'd' },
  ]);
  const list: Unseen[] = [];
  const add = async (why: string, input: object, then?: (id: string) => Promise<unknown>): Promise<void> => {
    const { action } = await parts.publish(input);
    const commentId = await comment(parts, action.id);
    await parts.fanOut();
    await then?.(action.id);
    list.push({ why, id: action.id, commentId });
  };
  await add('restricted', { scope: 'RESTRICTED', recipients: ['bob'], refs: ['x', 'y', 'z'].map(ref) });
  await add('for followers', { scope: 'FOLLOWERS', refs: [ref('site'), ref('other')] });
  await add('for a team', { scope: 'TEAM' });
  await add('for a department', { scope: 'DEPARTMENT', refs: [ref('site')] });
  await add('hidden', { scope: 'PUBLIC', refs: [ref('site')] }, (id) =>
    services.hideAction(admin(), id, null),
  );
  await add('hidden, and held', { mentions: ['ann'], refs: [ref('site')] }, (id) =>
    services.hideAction(admin(), id, null),
  );
  await add('deleted', { scope: 'PUBLIC', mentions: ['ann'] }, (id) => services.deleteAction(admin(), id));
  await services.deleteAction(admin(), (await parts.publish({ scope: 'PUBLIC' })).action.id);
  await parts.fanOut();
  return list;
}

type Way = (parts: Parts, session: ReaderSession, id: string) => Promise<unknown>;
type Ways = Readonly<Record<string, Way>>;

const WAYS: Ways = {
  action: ({ services }, session, id) => services.getAction(session, id),
  'own item': ({ services }, session, id) => services.getNewsfeedItem(session, id),
  addInteraction: ({ services }, session, actionId) =>
    services.addInteraction(session, { actionId, kind: 'COMMENT' }),
  'addInteraction by a service': (parts, _session, actionId) =>
    parts.services.addInteraction(parts.session('service', 'service'), {
      ...{ actionId, kind: 'COMMENT', actorId: 'ann' },
    }),
  hideFeedItem: ({ services }, session, id) => services.hideFeedItem(session, id),
  unhideFeedItem: ({ services }, session, id) => services.unhideFeedItem(session, id),
  archiveFeedItem: ({ services }, session, id) => services.archiveFeedItem(session, id),
  snoozeFeedItem: ({ services }, session, id) =>
    services.snoozeFeedItem(session, id, new Date(Date.now() + 3_600_000)),
  unsnoozeFeedItem: ({ services }, session, id) => services.unsnoozeFeedItem(session, id),
  markItemsRead: ({ services }, session, id) => services.markItemsRead(session, [id]),
  bookmark: ({ services }, session, id) => services.bookmark(session, id),
  unbookmark: ({ services }, session, id) => services.unbookmark(session, id),
  explainFeedItem: ({ services }, session, id) => services.explainFeedItem(session, id, null),
  updateAction: ({ services }, session, id) => services.updateAction(session, id, { mentions: [] }),
  deleteAction: ({ services }, session, id) => services.deleteAction(session, id),
};

/** What is named by the id of an interaction. */
const INTERACTION_WAYS: Ways = {
  interaction: ({ services }, session, id) => services.getInteraction(session, id),
  updateInteraction: ({ services }, session, id) => services.updateInteraction(session, id, 'Oh'),
  'updateInteraction by a service': ({ services, session }, _session, id) =>
    services.updateInteraction(session('ann', 'service'), id, 'Oh'),
  removeInteraction: ({ services }, session, id) => services.removeInteraction(session, { id }),
  'removeInteraction by a service': ({ services, session }, _session, id) =>
    services.removeInteraction(session('service', 'service'), { id }),
};

/** What names a comment to reply to, on an action that Ann may see. */
const replyWays = (actionId: string): Ways => ({
  'its replies': ({ services }, session, parentId) =>
    services.listInteractions(session, actionId, { parentId }),
  'a reply': ({ services }, session, parentId) =>
    services.addInteraction(session, { actionId, kind: 'COMMENT', text: 'Well', parentId }),
});

/** What only admins do, of whom nothing is hidden but what is deleted. */
const ADMIN_WAYS: Ways = {
  hideInteraction: ({ services, session }, _session, id) =>
    services.hideInteraction(session('admin', 'admin'), id, null),
  unhideInteraction: ({ services, session }, _session, id) =>
    services.unhideInteraction(session('admin', 'admin'), id),
  'updateInteraction by an admin': ({ services, session }, _session, id) =>
    services.updateInteraction(session('admin', 'admin'), id, 'Oh'),
  'removeInteraction by an admin': ({ services, session }, _session, id) =>
    services.removeInteraction(session('admin', 'admin'), { id }),
};

async function workOf(parts: Parts, way: Way | undefined, id: string): Promise<string[]> {
  const session = parts.session('ann');
  const commands = await commandsOf(parts.database, () =>
    Promise.resolve(way?.(parts, session, id)).catch((error: unknown) => {
      expect(error).toMatchObject({ code: 'NOT_FOUND' });
    }),
  );
  return commands.map(({ name, collection }) => `${name} ${collection}`);
}

/** Which refs are pulled is looked up by the clock, whatever is asked. */
const COUNTED: PartsOptions = { monitorCommands: true };

const READERS: readonly (readonly [string, PartsOptions, (parts: Parts) => Promise<unknown>])[] = [
  ['with nothing of their own', {}, () => Promise.resolve()],
  [
    'who took a follow back and hid an item',
    {},
    async ({ services, session, publish }) => {
      await services.follow(session('ann'), 'site', 0);
      await services.unfollow(session('ann'), 'site', false);
      await services.hideFeedItem(session('ann'), (await publish({ scope: 'PUBLIC' })).action.id);
    },
  ],
  ['whose feed is read from the actions', { model: 'pull' }, () => Promise.resolve()],
];

/** Each of the ways takes the work with each of these ids that it takes with one of nothing. */
async function expectSameWork(
  parts: Parts,
  ways: Ways,
  ids: readonly { readonly why: string; readonly id: string }[],
): Promise<void> {
  // The first read after a while notes that the reader is there.
  await parts.services.readFeed(parts.session('ann'), {});
  for (const [name, way] of Object.entries(ways)) {
    const expected = await workOf(parts, way, NOWHERE);
    expect(expected.length).toBeGreaterThan(0);
    for (const { why, id } of ids)
      expect([name, why, (await workOf(parts, way, id)).sort()]).toEqual([name, why, expected.sort()]);
  }
}

test.each(READERS)(
  'an invisible action and a missing one take the same commands, for a reader %s',
  async (_who, options, prepare) => {
    await using parts = await openParts({ ...options, ...COUNTED });
    await prepare(parts);
    await expectSameWork(parts, WAYS, await unseen(parts));
  },
);

test.each(READERS)(
  'an invisible interaction and a missing one take the same commands, for a reader %s',
  async (_who, options, prepare) => {
    await using parts = await openParts({ ...options, ...COUNTED });
    const { services } = parts;
    const admin = () => parts.session('admin', 'admin');
    await prepare(parts);
    const ofUnseen = (await unseen(parts)).map(({ why, commentId }) => ({ why, id: commentId }));
    const { action: open } = await parts.publish({ scope: 'PUBLIC', refs: [ref('site')] });
    const hidden = { why: 'hidden itself', id: await comment(parts, open.id) };
    await services.hideInteraction(admin(), hidden.id, null);
    const removed = { why: 'removed itself', id: await comment(parts, open.id) };
    await services.removeInteraction(admin(), { id: removed.id });
    await parts.fanOut();
    const { action: gone } = await parts.publish({ scope: 'PUBLIC' });
    const ofGone = { why: 'of what is being deleted', id: await comment(parts, gone.id) };
    await services.deleteAction(admin(), gone.id);

    const { 'removeInteraction by a service': byService, ...byMembers } = INTERACTION_WAYS;
    if (byService === undefined) throw new Error('No way of a service');
    await expectSameWork(parts, { byService }, [...ofUnseen, ofGone]);
    await expectSameWork(parts, byMembers, [...ofUnseen, ofGone, hidden, removed]);
    await expectSameWork(parts, replyWays(open.id), [...ofUnseen, ofGone, hidden, removed]);
    await expectSameWork(parts, ADMIN_WAYS, [ofGone]);
  },
);
