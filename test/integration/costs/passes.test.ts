import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { commandsOf } from '../../support/commands.ts';
import { openLiveList } from '../../support/live-list.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { PATIENCE_MS } from '../../support/patience.ts';

let parts: Parts;
beforeAll(async () => {
  parts = await openParts({ monitorCommands: true });
});
afterAll(() => parts[Symbol.asyncDispose]());

async function namesOf(work: () => Promise<unknown>): Promise<string[]> {
  return (await commandsOf(parts.database, work)).map(({ name, collection }) => `${name} ${collection}`);
}

const times = (names: readonly string[], name: string): number => names.filter((is) => is === name).length;

test('the followers of all refs of an action are read with one command if they are few, each reader once', async () => {
  const refIds = ['one', 'two', 'three'];
  const readers = ['ann', 'ben', 'cid', 'dora'];
  await parts.services.followMany(
    parts.service,
    readers.flatMap((followerId, n) =>
      refIds.slice(0, n).map((refId) => ({ followerId: `${followerId}-few`, refId })),
    ),
  );
  const refs = refIds.map((id) => ({ id, type: 'THING', label: id }));
  const { action } = await parts.publish({ refs });
  const names = await namesOf(() => parts.fanOut());
  expect(times(names, 'find follows')).toBe(1);
  expect(await parts.feedOf('ann-few')).toEqual([]);
  for (const reader of ['ben-few', 'cid-few', 'dora-few'])
    expect([reader, await parts.feedOf(reader)]).toEqual([reader, [action.id]]);
});

test('an action is announced to the slices of its refs by the command that announces it to readers', async () => {
  await parts.services.followMany(parts.service, [{ followerId: 'sla', refId: 'sliced-actor' }]);
  const callsWith = async (count: number): Promise<readonly number[]> => {
    const refs = Array.from({ length: count }, (_, n) => ({
      id: `s-${String(n)}`,
      type: 'THING',
      label: 's',
    }));
    const { action } = await parts.publish({ scope: 'PUBLIC', actorId: 'sliced-actor', refs });
    const { liveLog } = parts.live;
    const said = [vi.spyOn(liveLog, 'watched'), vi.spyOn(liveLog, 'append')];
    await parts.fanOut();
    expect(await parts.feedOf('sla')).toContain(action.id);
    const calls = said.map((spy) => spy.mock.calls.length);
    for (const spy of said) spy.mockRestore();
    return calls;
  };
  expect(await callsWith(0)).toEqual([0, 1]);
  expect(await callsWith(10)).toEqual([0, 1]);
});

test('reading several refs at once gives the same as reading each, whatever the limit', async () => {
  const { follows } = parts.repositories;
  const counts = new Map([
    ['a-ref', 3],
    ['b-ref', 0],
    ['c-ref', 4],
    ['\u{10000}-ref', 1],
    ['\uffff-ref', 2],
  ]);
  await parts.services.followMany(
    parts.service,
    [...counts].flatMap(([refId, count]) =>
      Array.from({ length: count }, (_, n) => ({ followerId: `reader-${String(n)}`, refId })),
    ),
  );
  for (let limit = 1; limit <= 12; limit++) {
    const first = await follows.firstFollowers([...counts.keys()], limit);
    let found = 0;
    for (const [refId, { followers, next }] of first) {
      found += followers.length;
      const rest = next === null ? [] : (await follows.followers(refId, next, 100)).followers;
      expect([limit, refId, [...followers, ...rest]]).toEqual([
        limit,
        refId,
        (await follows.followers(refId, null, 100)).followers,
      ]);
    }
    expect([limit, found]).toEqual([limit, Math.min(limit, 10)]);
    // A page that holds all followers exactly says so.
    if (limit >= 10) expect(first.size).toBe(counts.size);
  }
});

test('a pass corrects the counts of an action only if they differ from its interactions', async () => {
  await parts.services.followMany(parts.service, [{ followerId: 'eve', refId: 'counted' }]);
  const refs = [{ id: 'counted', type: 'THING', label: 'counted' }];
  const { action } = await parts.publish({ scope: 'PUBLIC', refs });
  await parts.fanOut();
  const like = async (actor: string): Promise<string[]> => {
    await parts.services.addInteraction(parts.session(actor), { actionId: action.id, kind: 'LIKE' });
    return namesOf(() => parts.fanOut());
  };
  // The end of the pass alone.
  expect(times(await like('eve'), 'update actions')).toBe(1);
  const { actions } = parts.database.collections;
  const _id = new ObjectId(action.id);
  await actions.updateOne({ _id }, { $set: { 'engagement.likes': 7 } });
  expect(times(await like('fay'), 'update actions')).toBe(2);
  expect((await actions.findOne({ _id }))?.engagement.likes).toBe(2);
});

test('a comment raises the item of all readers with one write, and visits those it concerns', async () => {
  const readers = ['kim', 'lea', 'max'];
  const member = (memberId: string, departmentId: string | null) => ({
    ...{ memberId, name: memberId, teamId: null, departmentId, supervisorId: null },
  });
  await parts.services.upsertMembers(parts.service, [
    ...[member('kim', 'sales'), member('lea', 'it'), member('nat', 'sales')],
  ]);
  await parts.services.followMany(
    parts.service,
    readers.map((followerId) => ({ followerId, refId: 'raised' })),
  );
  const refs = [{ id: 'raised', type: 'THING', label: 'raised' }];
  const conducted = new Date(Date.now() - 3_600_000);
  const { action } = await parts.publish({ scope: 'PUBLIC', refs, conducted });
  await parts.fanOut();
  const commented = async (by: string) => {
    await parts.services.addInteraction(parts.session(by), { actionId: action.id, kind: 'COMMENT' });
    const names = await namesOf(() => parts.fanOut());
    const held = await parts.feedStore.held(action.id, readers);
    const places = new Map(held.map(({ userId, relevancy }) => [userId, relevancy.getTime()]));
    const [kim = 0, lea = 0, max = 0] = readers.map((reader) => places.get(reader));
    return { ofItems: names.filter((name) => name.endsWith(' newsfeedItems')), kim, lea, max };
  };
  const first = await commented('no-one');
  expect(first.ofItems).toEqual(['update newsfeedItems']);
  expect(first.kim).toBeGreaterThan(conducted.getTime());
  expect([first.lea, first.max]).toEqual([first.kim, first.kim]);
  const second = await commented('nat');
  expect(second.ofItems).toEqual(['update newsfeedItems', 'update newsfeedItems']);
  expect([second.kim > second.lea, second.lea === second.max, second.lea > first.lea]).toEqual([
    true,
    true,
    true,
  ]);
  // Nobody sinks.
  expect((await commented('no-one')).kim).toBe(second.kim);
});

test('a comment brings an action back into a feed that had no room for it, also while that is rebuilt', async () => {
  const readers = ['ova', 'pia', 'quo'];
  await parts.services.followMany(
    parts.service,
    readers.map((followerId) => ({ followerId, refId: 'below' })),
  );
  const refs = [{ id: 'below', type: 'THING', label: 'below' }];
  const conducted = new Date(Date.now() - 3_600_000);
  const { action } = await parts.publish({ scope: 'PUBLIC', refs, conducted });
  await parts.fanOut();
  const { feeds, feedRebuilds } = parts.repositories;
  const above = { relevancy: new Date(conducted.getTime() + 1_000), actionId: action.id };
  await feeds.raiseFloor('ova', above, new Date());
  await parts.feedStore.remove(['ova', 'pia'], [action.id]);
  await feedRebuilds.markDue(['pia'], new Date(Date.now() + 3_600_000));
  await parts.services.addInteraction(parts.session('ray'), { actionId: action.id, kind: 'COMMENT' });
  // No rebuild: the pass does it.
  await using worker = parts.worker();
  worker.start();
  const lifted = async (): Promise<string[]> => {
    const held = await parts.feedStore.held(action.id, readers);
    return held.flatMap((item) => (item.relevancy > above.relevancy ? [item.userId] : [])).sort();
  };
  await expect.poll(lifted, { timeout: PATIENCE_MS }).toEqual(readers);
  await feedRebuilds.markDue(['pia'], new Date(0));
  await parts.fanOut();
  expect(await lifted()).toEqual(readers);
});

test('a like visits nobody but those it concerns, and tells all who watch of the count', async () => {
  const member = (memberId: string, departmentId: string | null, supervisorId: string | null = null) => ({
    ...{ memberId, name: memberId, teamId: null, departmentId, supervisorId },
  });
  await parts.services.upsertMembers(parts.service, [
    ...[member('la-named', null), member('la-helper', null, 'la-liker'), member('la-other', null)],
    ...[member('la-liker', 'la-dept'), member('la-same', 'la-dept'), member('la-stranger', 'la-dept')],
  ]);
  const follow = (followerId: string, isAssigned = false) => ({ followerId, refId: 'liked', isAssigned });
  await parts.services.followMany(parts.service, [
    ...['la-named', 'la-helper', 'la-other', 'la-same'].map((id) => follow(id)),
    follow('la-assigned', true),
  ]);
  const refs = [{ id: 'liked', type: 'THING', label: 'liked' }];
  const conducted = new Date(Date.now() - 3_600_000);
  const { action } = await parts.publish({ scope: 'PUBLIC', refs, conducted, mentions: ['la-named'] });
  await parts.fanOut();
  const readers = ['la-named', 'la-helper', 'la-other', 'la-same', 'la-assigned', 'la-stranger'];
  const raised = async (): Promise<string[]> => {
    const held = await parts.feedStore.held(action.id, readers);
    return held.flatMap(({ userId, relevancy }) => (relevancy > conducted ? [userId] : [])).sort();
  };
  const ofPass = async (by: string, kind: 'LIKE' | 'COMMENT'): Promise<string[]> => {
    await parts.services.addInteraction(parts.session(by), { actionId: action.id, kind });
    return namesOf(() => parts.fanOut());
  };
  await using list = await openLiveList(parts, parts.session('la-other').identity);
  const names = await ofPass('la-liker', 'LIKE');
  expect(await raised()).toEqual(['la-assigned', 'la-helper', 'la-named', 'la-same']);
  const ofItems = (all: readonly string[]): string[] => all.filter((name) => name.endsWith(' newsfeedItems'));
  // One for each set of reasons, without reading entries.
  expect(ofItems(names)).toEqual(['update newsfeedItems', 'update newsfeedItems']);
  await list.caughtUp();
  const counts = list.events.flatMap((event) =>
    event.kind === 'updated' ? [event.item.action.engagement.likes] : [],
  );
  expect(counts).toEqual([1]);
  // An action that concerns nobody.
  const other = await parts.publish({ scope: 'PUBLIC', conducted });
  await parts.fanOut();
  await parts.services.addInteraction(parts.session('la-nobody'), {
    actionId: other.action.id,
    kind: 'LIKE',
  });
  expect(ofItems(await namesOf(() => parts.fanOut()))).toEqual([]);
  await ofPass('la-nobody', 'COMMENT');
  expect(await raised()).toEqual(['la-assigned', 'la-helper', 'la-named', 'la-other', 'la-same']);
});

test('a claim says whether other work was due, and takes over expired leases on request', async () => {
  const { fanOuts } = parts.repositories;
  const ids = [(await parts.publish({})).action.id, (await parts.publish({})).action.id];
  const soon = new Date(Date.now() + 60_000);
  const found = [await fanOuts.claim('first', soon, 1), await fanOuts.claim('second', soon, 1)];
  expect(found.map(({ isAll }) => isAll)).toEqual([false, true]);
  expect(found.flatMap(({ claims }) => claims.map(({ action }) => action.id)).sort()).toEqual(ids.sort());
  const later = new Date(soon.getTime() + 1_000);
  expect((await fanOuts.claim('third', later, 60_000, { takesOver: false })).claims).toEqual([]);
  const { claims } = await fanOuts.claim('third', later, 60_000);
  expect(claims.map(({ action }) => action.id).sort()).toEqual(ids);
});

test('assigned followers among many readers are found equally, whether few or many are assigned to the refs', async () => {
  const { follows } = parts.repositories;
  const readers = Array.from({ length: 150 }, (_, n) => `assigned-${String(n).padStart(3, '0')}`);
  const assign = (followerIds: readonly string[], refId: string) =>
    parts.services.followMany(
      parts.service,
      followerIds.map((followerId) => ({ followerId, refId, isAssigned: true })),
    );
  await assign([...readers.slice(0, 3), 'somebody-else'], 'few-assigned');
  await assign([...readers, 'somebody-else'], 'many-assigned');
  const found = async (refId: string): Promise<string[]> =>
    (await follows.assignedAmong(readers, [refId])).map(({ followerId }) => followerId).sort();
  expect(await found('few-assigned')).toEqual(readers.slice(0, 3));
  expect(await found('many-assigned')).toEqual(readers);
  expect(times(await namesOf(() => found('few-assigned')), 'find follows')).toBe(1);
  expect(times(await namesOf(() => found('many-assigned')), 'find follows')).toBe(2);
});
