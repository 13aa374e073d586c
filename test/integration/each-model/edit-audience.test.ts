import { expect, test } from 'vitest';
import { idsOf } from '../../conformance/feed-tools.ts';
import { openLiveList, type LiveList } from '../../support/live-list.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { FEED_WAYS, posted, REF, waysThatShow } from '../../support/shown-ways.ts';
import { someModels } from '../../support/some-models.ts';

const NEW_TEXT = 'For the team alone';

/** Ann follows a ref, is mentioned and in the actor's team before; Bob follows it; Cid is in the team. */
async function openScene(model: string): Promise<{ readonly parts: Parts; readonly id: string }> {
  const parts = await openParts({ model });
  const { services, service, session } = parts;
  await services.upsertMembers(service, [
    { memberId: 'actor', name: 'Actor', teamId: 't' },
    { memberId: 'cid', name: 'Cid', teamId: 't' },
  ]);
  for (const reader of ['ann', 'bob']) await services.follow(session(reader), 'site', 0);
  const { action } = await parts.publish({
    ...{ scope: 'PUBLIC', mentions: ['ann'], refs: [REF], descriptor: posted('For everybody') },
  });
  await parts.fanOut();
  for (const reader of ['ann', 'bob', 'cid', 'actor']) await parts.feedOf(reader);
  // A model may rebuild a feed after its first read.
  await parts.fanOut();
  return { parts, id: action.id };
}

/** What a reader is shown that they archived, snoozed and hid, by list and by group; what is counted must agree. */
async function putAside({ services, session }: Parts, userId: string): Promise<string[]> {
  const reader = () => session(userId);
  const ids: string[] = [];
  for (const filter of [{ archived: true }, { snoozed: true }]) {
    const page = await services.readFeed(reader(), { filter, withUnread: true });
    const groups = await services.readFeedGroups(reader(), { filter });
    const listed = page.edges.map(({ node }) => node.action.id);
    for (const { count } of [
      ...[await page.countTotal(), await page.countUnread()],
      ...[await groups.countTotal(), await groups.countUnread()],
    ])
      expect([userId, filter, count]).toEqual([userId, filter, listed.length]);
    ids.push(...listed);
  }
  const hidden = await services.readHiddenItems(reader(), {});
  expect((await hidden.countTotal()).count).toBe(hidden.edges.length);
  return [...ids, ...hidden.edges.map(({ node }) => node.id)];
}

function notified({ events }: LiveList, id: string): string[] {
  return events.flatMap((event) => {
    if (event.kind === 'removed') return event.actionId === id ? ['removed'] : [];
    return event.kind === 'added' || event.kind === 'updated'
      ? [`${event.kind} ${String(event.item.action.descriptor['text'])}`]
      : [];
  });
}

test.each(someModels(0))(
  'after an edit that shrinks the audience, without a worker, nobody who lost access sees the new text anywhere, feeds stored by %s',
  async (model) => {
    const { parts, id } = await openScene(model);
    await using _parts = parts;
    const { services, session } = parts;
    const service = session('service', 'service');
    await services.pinAction(service, 'site', id);
    for (const reader of ['ann', 'bob']) await services.bookmark(session(reader), id);
    const open = (name: string): Promise<LiveList> => openLiveList(parts, session(name).identity);
    await using ann = await open('ann');
    await using bob = await open('bob');
    await using cid = await open('cid');
    expect(await idsOf(parts, 'bob')).toEqual([id]);
    expect(await waysThatShow(parts, 'ann', id)).toEqual(FEED_WAYS);
    // An export has what names a member.
    expect(await waysThatShow(parts, 'bob', id)).toEqual(FEED_WAYS.filter((way) => way !== 'export'));
    await services.updateAction(session('actor'), id, {
      ...{ scope: 'TEAM', mentions: [], descriptor: posted(NEW_TEXT) },
    });
    const { interaction } = await services.addInteraction(session('cid'), {
      ...{ actionId: id, kind: 'COMMENT', text: 'Among us' },
    });
    for (const lost of ['ann', 'bob', 'stranger'])
      expect([lost, await waysThatShow(parts, lost, id)]).toEqual([lost, []]);
    for (const lost of ['ann', 'bob']) {
      expect(await services.getInteraction(session(lost), interaction.id)).toBeNull();
      for (const refused of [
        () => services.addInteraction(session(lost), { actionId: id, kind: 'LIKE' }),
        () => services.archiveFeedItem(session(lost), id),
        () => services.bookmark(session(lost), id),
        () => services.updateAction(session(lost), id, { mentions: [lost] }),
      ])
        await expect(refused()).rejects.toMatchObject({ code: 'NOT_FOUND' });
      // Whatever is announced before the pass has come.
      await parts.live.liveLog.append([
        {
          userId: lost,
          event: { kind: 'updated', actionId: id, relevancy: new Date(), reasons: ['FOLLOW', 'MENTION'] },
        },
      ]);
    }
    for (const list of [ann, bob]) {
      await list.caughtUp();
      expect(notified(list, id).filter((line) => line.includes(NEW_TEXT))).toEqual([]);
    }
    await parts.fanOut();
    for (const list of [ann, bob, cid]) await list.caughtUp();
    expect(notified(ann, id)).toEqual(['removed']);
    expect(notified(bob, id)).toEqual(['removed']);
    expect([...ann.shown.keys(), ...bob.shown.keys()]).toEqual([]);
    expect([...cid.shown.keys()]).toEqual([id]);
    expect(notified(cid, id).at(-1)).toContain(NEW_TEXT);
    for (const lost of ['ann', 'bob', 'stranger'])
      expect([lost, await waysThatShow(parts, lost, id)]).toEqual([lost, []]);
    expect(await idsOf(parts, 'cid')).toEqual([id]);
    const holders = await parts.feedStore.holders(id, { limit: 10 });
    expect(holders.filter((reader) => reader === 'ann' || reader === 'bob')).toEqual([]);
  },
);

test.each(someModels(1))(
  'an edit that shrinks the audience, without a worker, removes it from archived and snoozed lists, feeds stored by %s',
  async (model) => {
    const { parts, id: archived } = await openScene(model);
    await using _parts = parts;
    const { services, session } = parts;
    const others: string[] = [];
    for (let n = 0; n < 2; n++)
      others.push(
        (await parts.publish({ scope: 'PUBLIC', mentions: ['ann'], refs: [REF], descriptor: posted('Open') }))
          .action.id,
      );
    await parts.fanOut();
    const [snoozed = '', hidden = ''] = others;
    const until = new Date(Date.now() + 3_600_000);
    for (const reader of ['ann', 'bob']) {
      await services.archiveFeedItem(session(reader), archived);
      await services.snoozeFeedItem(session(reader), snoozed, until);
      await services.hideFeedItem(session(reader), hidden);
      expect([reader, await putAside(parts, reader)]).toEqual([reader, [archived, snoozed, hidden]]);
    }
    for (const id of [archived, snoozed, hidden])
      await services.updateAction(session('actor'), id, {
        ...{ scope: 'TEAM', mentions: [], descriptor: posted(NEW_TEXT) },
      });
    for (const pass of ['before', 'after'] as const) {
      for (const lost of ['ann', 'bob']) {
        expect([pass, lost, await putAside(parts, lost)]).toEqual([pass, lost, []]);
        for (const id of [archived, snoozed, hidden]) {
          expect([pass, lost, await services.getNewsfeedItem(session(lost), id)]).toEqual([pass, lost, null]);
          for (const back of ['unarchiveFeedItem', 'unsnoozeFeedItem', 'unhideFeedItem'] as const)
            await expect(services[back](session(lost), id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
        }
      }
      await parts.fanOut();
    }
  },
);

test.each(someModels(2))(
  'an edit that names new members delivers the action to them, feeds stored by %s',
  async (model) => {
    const { parts, id } = await openScene(model);
    await using _parts = parts;
    const { services, session } = parts;
    await services.updateAction(session('actor'), id, {
      scope: 'RESTRICTED',
      recipients: ['dan'],
      mentions: [],
    });
    await parts.fanOut();
    expect(await idsOf(parts, 'dan')).toEqual([id]);
    expect(await idsOf(parts, 'bob')).toEqual([]);
    // A model may rebuild a feed after its first read.
    await parts.fanOut();
    await using bob = await openLiveList(parts, session('bob').identity);
    await using dan = await openLiveList(parts, session('dan').identity);
    await services.updateAction(session('actor'), id, { scope: 'FOLLOWERS', descriptor: posted(NEW_TEXT) });
    await parts.fanOut();
    for (const list of [bob, dan]) await list.caughtUp();
    expect(notified(bob, id)).toEqual([`added ${NEW_TEXT}`]);
    expect(notified(dan, id)).toEqual(['removed']);
    expect(await idsOf(parts, 'bob')).toEqual([id]);
    expect(await idsOf(parts, 'dan')).toEqual([]);
  },
);

test.each(someModels(0))(
  'an edit that removes a ref lowers the action for members whom it concerned by that ref, feeds stored by %s',
  async (model) => {
    const { parts, id } = await openScene(model);
    await using _parts = parts;
    const { services, service, session } = parts;
    await services.follow(session('bob'), 'desk', 0);
    await services.followMany(service, [{ followerId: 'bob', refId: 'desk', isAssigned: true }]);
    const desk = { id: 'desk', type: 'desk', label: 'Desk' };
    await services.updateAction(session('actor'), id, { refs: [REF, desk] });
    await services.addInteraction(session('actor'), { actionId: id, kind: 'LIKE' });
    await parts.fanOut();
    await parts.feedOf('bob');
    await parts.fanOut();
    const place = async (): Promise<number | undefined> =>
      (await services.readFeed(session('bob'), {})).edges[0]?.node.relevancy.getTime();
    const lifted = await place();
    await using bob = await openLiveList(parts, session('bob').identity);
    await services.updateAction(session('actor'), id, { refs: [REF] });
    await parts.fanOut();
    await bob.caughtUp();
    const lowered = await place();
    expect(lowered).toBeLessThan(lifted ?? 0);
    expect([...bob.shown.values()].map(({ relevancy }) => relevancy.getTime())).toEqual([lowered]);
    await services.rebuildFeed(parts.admin, 'bob');
    await parts.fanOut();
    expect(await place()).toBe(lowered);
  },
);

test.each(someModels(1))('watchers receive a changed text, feeds stored by %s', async (model) => {
  const { parts, id } = await openScene(model);
  await using _parts = parts;
  await using bob = await openLiveList(parts, parts.session('bob').identity);
  await parts.services.updateAction(parts.session('actor'), id, { descriptor: posted(NEW_TEXT) });
  await parts.fanOut();
  await bob.caughtUp();
  expect(notified(bob, id)).toHaveLength(1);
  expect(notified(bob, id)[0]).toContain(NEW_TEXT);
});

test('a list by a tag or ref that an edit removes receives its removal', async () => {
  const { parts, id } = await openScene('items');
  await using _parts = parts;
  await using byRef = await openLiveList(parts, parts.session('ann').identity, { filter: { refId: 'site' } });
  await parts.services.updateAction(parts.session('actor'), id, { refs: [] });
  await parts.fanOut();
  await byRef.caughtUp();
  expect(notified(byRef, id)).toEqual(['removed']);
  expect(await idsOf(parts, 'ann')).toEqual([id]);
});

test('removes it from many feeds in batches, and continues where a pass was interrupted', async () => {
  await using parts = await openParts();
  const { services, session } = parts;
  const readers = Array.from({ length: 25 }, (_, n) => `reader${String(n).padStart(2, '0')}`);
  const { action } = await parts.publish({ scope: 'RESTRICTED', recipients: readers });
  await parts.fanOut();
  expect(await parts.feedStore.holders(action.id, { limit: 100 })).toEqual(readers);
  const kept = readers.filter((_, n) => n % 3 === 0);
  await services.updateAction(session('actor'), action.id, { recipients: kept });
  let removals = 0;
  await using worker = parts.worker(
    {},
    {
      chunkSize: 4,
      feedStore: {
        ...parts.feedStore,
        async remove(userIds, actionIds) {
          await parts.feedStore.remove(userIds, actionIds);
          removals += 1;
          if (removals === 2) throw new Error('Cut off');
        },
      },
    },
  );
  worker.start();
  await parts.idle();
  expect(await parts.feedStore.holders(action.id, { limit: 100 })).toEqual(kept);
  expect(await parts.feedStore.holders(action.id, { after: kept[0] ?? '', limit: 2 })).toEqual(
    kept.slice(1, 3),
  );
  const before = removals;
  await services.addInteraction(session(kept[0] ?? ''), { actionId: action.id, kind: 'LIKE' });
  await parts.idle();
  // Who holds it is walked through once for an edit.
  expect(removals).toBe(before);
});

test('a ref added by an edit is pulled if it has too many followers', async () => {
  await using parts = await openParts({ pullRefreshMs: -1 });
  const { services, session } = parts;
  await parts.database.collections.refs.insertOne({
    ...{ _id: 'big', version: 0, followerCount: 0, isPulled: true, pullSince: new Date(0) },
  });
  for (const ref of ['big', 'site']) await services.follow(session('ann'), ref, 0);
  const { action } = await parts.publish({ refs: [REF] });
  await parts.fanOut();
  const big = { id: 'big', type: 'site', label: 'Big' };
  await using ann = await openLiveList(parts, session('ann').identity);
  await services.updateAction(session('actor'), action.id, { refs: [big] });
  await parts.fanOut();
  await ann.caughtUp();
  expect([...ann.shown.keys()]).toEqual([action.id]);
  const edges = (await services.readFeed(session('ann'), {})).edges.map(({ node }) => node.reasons);
  expect(edges).toEqual([['PULL']]);
  expect(await parts.feedStore.holders(action.id, { limit: 10 })).toEqual([]);
});
