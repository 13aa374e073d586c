import { expect, test } from 'vitest';
import { DEFAULT_WEIGHTS } from '../../../src/domain/relevancy.ts';
import { follow } from '../../../src/features/follow/follow.ts';
import { settleMemberships } from '../../../src/features/directory/directory.ts';
import { newObjectId } from '../../../src/storage/database/mongo.ts';
import { commandsOf } from '../../support/commands.ts';
import { openParts, type Parts } from '../../support/parts.ts';

const refs = [{ id: 'site', type: 'site', label: 'Site' }];

async function publishSome(parts: Parts, count: number): Promise<string[]> {
  const outcomes = await parts.services.publishActions(
    parts.service,
    Array.from({ length: count }, (_, n) => ({
      actorId: 'actor',
      refs,
      conducted: new Date(Date.UTC(2026, 0, 1, 0, n)),
      descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: String(n) } },
    })),
  );
  return outcomes.map((outcome) => outcome.action?.id ?? '');
}

test('adds exactly the newest actions of the ref, even from one batch', async () => {
  await using parts = await openParts();
  const ids = await publishSome(parts, 10);
  await parts.fanOut();
  await parts.services.follow(parts.session('ann'), 'site', 3);
  expect(await parts.feedOf('ann')).toEqual(ids.slice(-3).reverse());
});

test('adds history to an existing follow, counts nobody twice, and removes nothing', async () => {
  await using parts = await openParts();
  const ids = await publishSome(parts, 10);
  await parts.fanOut();
  const feed = async (copyLimit: number): Promise<string[]> => {
    const ref = await parts.services.follow(parts.session('ann'), 'site', copyLimit);
    expect(ref.followerCount).toBe(1);
    return parts.feedOf('ann');
  };
  const newest = (count: number): string[] => ids.slice(-count).reverse();
  expect(await feed(0)).toEqual([]);
  expect(await feed(3)).toEqual(newest(3));
  expect(await feed(5)).toEqual(newest(5));
  expect(await feed(2)).toEqual(newest(5));
  await parts.services.unfollow(parts.session('ann'), 'site', true);
  expect(await feed(0)).toEqual(newest(5));
  expect(await feed(8)).toEqual(newest(8));
  await parts.services.rebuildFeed(parts.admin, 'ann');
  await parts.fanOut();
  expect(await parts.feedOf('ann')).toEqual(newest(8));
  expect(await parts.repositories.follows.unsettled([{ followerId: 'ann', refId: 'site' }])).toEqual([]);
});

test('adds nothing with a copy limit of 0, and every later action', async () => {
  await using parts = await openParts();
  await publishSome(parts, 3);
  await parts.services.follow(parts.session('ann'), 'site', 0);
  const [fresh] = await publishSome(parts, 1);
  await parts.fanOut();
  expect(await parts.feedOf('ann')).toEqual([fresh]);
});

test('adds a hundred actions by default', async () => {
  await using parts = await openParts();
  const ids = await publishSome(parts, 120);
  await parts.services.follow(parts.session('ann'), 'site', null);
  expect(await parts.feedOf('ann')).toEqual(ids.slice(-100).reverse());
});

test('does not add actions that are not for followers', async () => {
  await using parts = await openParts();
  await parts.publish({ refs, scope: 'RESTRICTED', recipients: ['bob'] });
  const { action } = await parts.publish({ refs, scope: 'PUBLIC' });
  await parts.publish({ refs, scope: 'RESTRICTED', recipients: ['bob'] });
  await parts.services.follow(parts.session('ann'), 'site', 1);
  expect(await parts.feedOf('ann')).toEqual([action.id]);
});

test('counts each follower once, however often they follow', async () => {
  await using parts = await openParts();
  await parts.services.upsertRefs(parts.service, refs);
  for (let n = 0; n < 3; n++) await parts.services.follow(parts.session('ann'), 'site', 0);
  await parts.services.followMany(parts.service, [
    { followerId: 'ann', refId: 'site' },
    { followerId: 'bob', refId: 'site' },
    { followerId: 'bob', refId: 'site' },
  ]);
  const ref = await parts.services.follow(parts.session('cid'), 'site', 0);
  expect(ref).toMatchObject({ refId: 'site', type: 'site', label: 'Site', followerCount: 3 });
});

test('takes five commands for something described, of which three write', async () => {
  await using parts = await openParts({ monitorCommands: true });
  await parts.services.upsertRefs(parts.service, refs);
  const commands = await commandsOf(parts.database, () =>
    parts.services.follow(parts.session('ann'), 'site', null),
  );
  const names = commands.map(({ name, collection }) => `${name} ${collection}`);
  expect(names).toEqual([
    ...['aggregate actions', 'insert follows', 'aggregate actions', 'findAndModify refs'],
    'update follows',
  ]);
});

test('takes one command more for history that the process has cached, and finds what was hidden meanwhile', async () => {
  await using parts = await openParts({ monitorCommands: true });
  await parts.services.upsertRefs(parts.service, refs);
  const ids = await publishSome(parts, 3);
  await parts.fanOut();
  await parts.services.follow(parts.session('bob'), 'site', null);
  const hide = () => parts.services.hideAction(parts.session('mod', 'admin'), ids[1] ?? '', null);
  const core: Parts['core'] = {
    ...parts.core,
    feedStore: {
      ...parts.feedStore,
      async fill(...given) {
        await hide();
        await parts.fanOut();
        return parts.feedStore.fill(...given);
      },
    },
  };
  const commands = await commandsOf(parts.database, () =>
    parts.services.follow(parts.session('ann'), 'site', null),
  );
  expect(commands.map(({ name, collection }) => `${name} ${collection}`)).toEqual([
    ...['aggregate actions', 'insert follows', 'insert newsfeedItems', 'aggregate actions'],
    ...['findAndModify refs', 'update follows'],
  ]);
  await follow(core, parts.session('cid'), 'site', null);
  await parts.fanOut();
  expect((await parts.feedStore.find('cid', ids)).map(({ actionId }) => actionId).sort()).toEqual(
    [ids[0], ids[2]].sort(),
  );
});

test('counts correctly when many follow at once', async () => {
  await using parts = await openParts();
  await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      parts.services.follow(parts.session(`u${String(n % 20)}`), 'site', 0),
    ),
  );
  const [ref] = await parts.repositories.refs.findByIds(['site']);
  expect(ref?.followerCount).toBe(20);
});

test('completes a follow that was interrupted after its commit, when repeated', async () => {
  await using parts = await openParts();
  const ids = await publishSome(parts, 5);
  const { follows, actions } = parts.repositories;
  const oldest = await actions.nthNewest('site', 2);
  expect(oldest).not.toBeNull();
  if (oldest === null) return;
  const span = { followerId: 'ann', refId: 'site', since: oldest.recorded, sinceAction: oldest.id };
  await follows.open([span], { opened: newObjectId(), extended: newObjectId(), changed: newObjectId() });
  expect(await parts.feedOf('ann')).toEqual([]);
  const ref = await parts.services.follow(parts.session('ann'), 'site', 0);
  expect(ref.followerCount).toBe(1);
  expect(await parts.feedOf('ann')).toEqual(ids.slice(-2).reverse());
  expect(await follows.unsettled([span])).toEqual([]);
});

test('delivers an action recorded while the follow was being opened and its fan-out was already over', async () => {
  await using parts = await openParts();
  const since = new Date();
  const [id] = await publishSome(parts, 1);
  await parts.fanOut();
  const tokens = { opened: newObjectId(), extended: newObjectId(), changed: newObjectId() };
  await parts.repositories.follows.open([{ followerId: 'ann', refId: 'site', since }], tokens);
  await parts.services.follow(parts.session('ann'), 'site', 0);
  expect(await parts.feedOf('ann')).toEqual([id]);
});

test('delivers an action recorded for a team while a member was joining and its fan-out was already over', async () => {
  await using parts = await openParts();
  await parts.services.upsertMembers(parts.service, [{ memberId: 'actor', name: 'Actor', teamId: 't' }]);
  const joined = new Date();
  const { action } = await parts.publish({ scope: 'TEAM' });
  await parts.fanOut();
  const ann = { userId: 'ann', name: 'Ann', teamId: 't', departmentId: null, supervisorId: null };
  const contact = { email: null, locale: null, timeZone: null };
  const details = { imageUrl: null, url: null, data: null, contact };
  await parts.repositories.members.upsert([{ ...ann, ...details }], joined);
  expect(await parts.feedOf('ann')).toEqual([]);
  const { repositories, feedStore } = parts;
  await settleMemberships(
    { ...repositories, ...parts.live, feedStore, weights: DEFAULT_WEIGHTS },
    ['ann'],
    joined,
  );
  expect(await parts.feedOf('ann')).toEqual([action.id]);
});

test("lists a reader's follows, in order, page by page", async () => {
  await using parts = await openParts();
  const ids = Array.from({ length: 7 }, (_, n) => `ref${String(n)}`);
  await parts.services.followMany(
    parts.service,
    ids.map((refId) => ({ followerId: 'ann', refId })),
  );
  const session = parts.session('ann');
  const first = await parts.services.following(session, { first: 4 });
  const second = await parts.services.following(session, { first: 4, after: first.end });
  expect([...first.edges, ...second.edges].map((edge) => edge.node.refId)).toEqual(ids);
  expect([first.hasMore, second.hasMore]).toEqual([true, false]);
  await expect(parts.services.following(parts.session('bob'), { after: first.end })).rejects.toMatchObject({
    code: 'BAD_CURSOR',
  });
});

test.each([-1, 1_001, 1.5])('rejects a copy limit of %s', async (copyLimit) => {
  await using parts = await openParts();
  await expect(parts.services.follow(parts.session('ann'), 'site', copyLimit)).rejects.toMatchObject({
    code: 'BAD_USER_INPUT',
  });
  expect(await parts.database.collections.follows.countDocuments()).toBe(0);
});

test('only services follow on behalf of others', async () => {
  await using parts = await openParts();
  const pairs = [{ followerId: 'bob', refId: 'site' }];
  await expect(parts.services.followMany(parts.admin, pairs)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  expect(await parts.database.collections.follows.countDocuments()).toBe(0);
});
