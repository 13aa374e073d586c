import type { ErasureSubject } from '../../../src/domain/erasure.ts';
import { ObjectId } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { FORMER_MEMBER } from '../../../src/domain/erasure.ts';
import { actorsOf } from '../../../parts/notifications/src/read-notifications.ts';
import { eraseMember } from '../../../parts/erasure/src/erase-member.ts';
import { type MemberTraces, memberTraces } from '../../../parts/erasure/src/store/member-traces.ts';
import { changesTraces, Crash, crashingDatabase } from '../../support/crashing.ts';
import { erase, erasureParts, finishErasures, placesOf } from '../../support/erasure.ts';
import { ID, NAME, openErasureWorld, OTHERS, othersView } from '../../support/erasure-world.ts';
import { MemoryLiveLog } from '../../support/memory-live-log.ts';
import { threadLog } from '../../../src/live/live-log.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { reporting, runnerOf } from '../../support/jobs.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { erasure } from '../../../parts/erasure/src/jobs/erasure.ts';
import { MEMBER, REF } from '../../../src/feed/loads/names.ts';

const PSEUDONYM = /^erased:[0-9a-f]{24}$/;

async function stored(parts: Parts, actionId: string) {
  const action = await parts.database.collections.actions.findOne({ _id: new ObjectId(actionId) });
  if (action === null) throw new Error('There is no such action');
  return action;
}

/** Collections that hold nothing about anybody. */
const IMPERSONAL = [
  ...['directoryStamps', 'eventState', 'feedEpochs', 'rankings', 'readerStamps', 'scores'],
  // Of whose hashes nobody is found.
  'publications',
  // Another test may have begun them in this database.
  ...['processes', 'schema'],
  'webhookDeliveries',
];

describe('an erased member', () => {
  test('is no longer named in any collection', async () => {
    await using world = await openErasureWorld();
    // Feeds that were left behind when the site chose another model.
    const entries = [{ actionId: 'a'.repeat(24), relevancy: new Date(), reasons: ['FOLLOW' as const] }];
    for (const store of world.parts.feedStores) await store.fill(ID, entries);
    const before = await placesOf(world.parts.database, ID, NAME);
    const collections = new Set(before.map((place) => place.slice(0, place.indexOf(':'))));
    // The test is worth something only as long as there is something everywhere.
    expect([...collections].sort()).toEqual(
      (await world.parts.database.db.collections())
        .map(({ collectionName }) => collectionName)
        .filter((name) => !IMPERSONAL.includes(name))
        .sort(),
    );
    await erase(world.parts, ID);
    expect(await placesOf(world.parts.database, ID, NAME, 'zebulon')).toEqual([]);
  });

  test('does not change what others see and count', async () => {
    await using world = await openErasureWorld();
    const { parts } = world;
    const before = await othersView(parts);
    await erase(parts, ID);
    const { followers, ...view } = (await othersView(parts)) as { followers: Record<string, number> };
    const { followers: followersBefore, ...viewBefore } = before as { followers: Record<string, number> };
    expect(view).toEqual(viewBefore);
    expect(followers).toEqual({
      ...followersBefore,
      site: (followersBefore['site'] ?? 0) - 1,
      bob: (followersBefore['bob'] ?? 0) - 1,
      [world.traces.assignedTo]: 0,
    });
    expect(followersBefore[world.traces.assignedTo]).toBe(1);
    for (const [refId, count] of Object.entries(followers))
      expect([refId, count]).toEqual([refId, await parts.repositories.follows.countFollowers(refId)]);
  });

  test('leaves feeds that are the same when they are rebuilt and delivered again', async () => {
    await using world = await openErasureWorld();
    const { parts } = world;
    await erase(parts, ID);
    const before = await othersView(parts);
    for (const reader of OTHERS) await parts.services.rebuildFeed(parts.admin, reader);
    for (const id of [world.own.post, world.others.named])
      await parts.repositories.fanOuts.requestPass(id, new Date());
    await parts.fanOut();
    expect(await othersView(parts)).toEqual(before);
    expect(await placesOf(parts.database, ID, NAME)).toEqual([]);
  });

  test('replaces an erased member by one pseudonym and deletes their texts', async () => {
    await using world = await openErasureWorld();
    const { parts, own } = world;
    await erase(parts, ID);
    const rating = await stored(parts, own.rating);
    const pseudonym = rating.actorId;
    expect(pseudonym).toMatch(PSEUDONYM);
    expect(rating.idempotencyKey).toBeUndefined();
    expect(rating.refIds).toEqual(['site', pseudonym]);
    expect(rating.descriptor).toEqual({
      type: 'ApplicationRating',
      tags: ['cooks'],
      raterId: pseudonym,
      raterName: FORMER_MEMBER,
      applicantId: 'app-1',
      applicantName: 'Mary',
      positionId: 'pos-1',
      positionName: 'Cook',
      ratingScore: 4.5,
    });
    const post = await stored(parts, own.post);
    expect(post).toMatchObject({
      actorId: pseudonym,
      refs: [{ id: 'post-1', label: `A post by ${FORMER_MEMBER}` }],
      descriptor: { verb: 'posted', objectType: 'post', objectId: 'post-1', data: {} },
      engagement: { likes: 1 },
    });
    const team = await stored(parts, own.team);
    expect(team).toMatchObject({ actorId: pseudonym, scope: 'TEAM', audience: ['team:t1'] });
    expect(team.descriptor['text']).toBeUndefined();
    const tombstones = await parts.database.collections.actions.find({ isDeleted: true }).toArray();
    expect(tombstones.map(({ actorId }) => actorId)).toEqual([pseudonym]);
    const { interactions, moderationLog, follows, feeds, members } = parts.database.collections;
    expect(await interactions.countDocuments({ actorId: pseudonym })).toBe(6);
    expect(await moderationLog.countDocuments({ by: pseudonym })).toBe(6);
    expect(await moderationLog.countDocuments({ reason: `Not again, ${FORMER_MEMBER}!` })).toBe(1);
    expect(await follows.countDocuments({ refId: pseudonym, active: true })).toBe(0);
    expect(await feeds.findOne({ _id: 'dan' })).toMatchObject({
      mutes: ['MEMBER', 'REF'].map((kind) => ({ kind, value: pseudonym })),
    });
    expect(await feeds.findOne({ _id: 'eve' })).toMatchObject({
      mutes: [{ kind: 'MEMBER', value: pseudonym, until: expect.any(Date) as Date }],
    });
    expect(await members.findOne({ _id: 'ann' })).toMatchObject({ supervisorId: pseudonym });
  });

  test('keeps comments, replies and reactions under the pseudonym without texts, and deletes marks', async () => {
    await using world = await openErasureWorld();
    const { parts, traces, own } = world;
    const { itemMarks, follows } = parts.database.collections;
    const said = (session = parts.session('ann')) =>
      Promise.all(
        [traces.comment, traces.reply, traces.reaction, traces.answer].map((id) =>
          parts.services.getInteraction(session, id),
        ),
      );
    const [comment, reply, reaction, answer] = await said();
    for (const [one, text] of [
      [comment, `Said by ${NAME}`],
      [reply, `Replied by ${NAME}`],
      [reaction, null],
    ] as const)
      expect(one).toMatchObject({ actorId: ID, text, state: 'VISIBLE' });
    const counts = async () =>
      (await parts.services.getAction(parts.session('ann'), traces.archived))?.engagement;
    const countsBefore = await counts();
    expect(countsBefore).toMatchObject({ comments: 4 });
    expect(await itemMarks.countDocuments({ '_id.userId': ID })).toBe(5);
    expect(await follows.countDocuments({ followerId: ID, isAssigned: true })).toBe(1);
    await erase(parts, ID);
    const { actorId } = await stored(parts, own.post);
    expect(await said()).toEqual([
      { ...comment, actorId, text: null },
      { ...reply, actorId, text: null },
      { ...reaction, actorId },
      // Whom it answers is gone.
      { ...answer, to: [] },
    ]);
    expect(await counts()).toEqual(countsBefore);
    expect(await itemMarks.countDocuments({ '_id.userId': { $in: [ID, actorId] } })).toBe(0);
    expect(await follows.countDocuments({ followerId: { $in: [ID, actorId] } })).toBe(0);
    // Somebody new by that id begins with nothing.
    for (const filter of [{ archived: true }, { snoozed: true }])
      expect((await parts.services.readFeed(parts.session(ID), { filter })).edges).toEqual([]);
    expect((await parts.services.readHiddenItems(parts.session(ID), {})).edges).toEqual([]);
  });

  test('is removed from the actions of others, which stay', async () => {
    await using world = await openErasureWorld();
    const { parts, others, own } = world;
    await erase(parts, ID);
    const pseudonym = (await stored(parts, own.post)).actorId;
    expect(await stored(parts, others.named)).toMatchObject({
      actorId: 'ann',
      otherIds: [pseudonym],
      descriptor: {
        objectId: pseudonym,
        data: {
          to: pseudonym,
          [pseudonym]: [{ deep: pseudonym }],
          title: `Call ${FORMER_MEMBER} back`,
          count: 3,
        },
        tags: ['calls'],
      },
      engagement: { likes: 1 },
    });
    expect(await stored(parts, others.mention)).toMatchObject({
      mentions: ['eve'],
      audience: ['followers', 'user:eve'],
      refs: [{ id: pseudonym, type: 'user', label: FORMER_MEMBER }],
      fanOut: { error: 'The error named a member who was erased' },
    });
    expect(await stored(parts, others.restricted)).toMatchObject({
      recipients: ['ann'],
      audience: ['user:ann'],
    });
  });

  test('has no data of their own left, and can come back as a new person', async () => {
    await using world = await openErasureWorld();
    const { parts } = world;
    expect((await parts.feedOf(ID)).length).toBeGreaterThan(0);
    await erase(parts, ID);
    await parts.services.upsertMembers(parts.service, [{ memberId: ID, name: NAME, teamId: 't1' }]);
    await parts.fanOut();
    const session = () => parts.session(ID);
    expect(await parts.feedOf(ID)).toEqual([]);
    const slice = await parts.services.readSlice(session(), ID, {});
    expect(slice.edges).toEqual([]);
    const following = await parts.services.following(session(), {});
    expect(following.edges).toEqual([]);
    expect(await session().profile()).toMatchObject({ lastRead: null, hasMarks: false });
    expect((await session().profile()).mutes.members.size).toBe(0);
    const { action } = await parts.publish({
      actorId: ID,
      idempotencyKey: `rating-by-${ID}`,
      mentions: ['dan'],
    });
    const liked = await parts.services.addInteraction(session(), {
      actionId: world.others.named,
      kind: 'LIKE',
    });
    await parts.fanOut();
    expect(liked.action.engagement.likes).toBe(2);
    // Who had muted the one before has not muted this one.
    expect(await parts.feedOf('dan')).toContain(action.id);
    expect(await parts.feedOf('bob')).not.toContain(action.id);
  });
});

describe('erasing', () => {
  test('is not named by notifications that a process has kept, when others with the action come', async () => {
    await using parts = await openParts();
    const { services, session } = parts;
    const publish = async () => (await parts.publish({ actorId: 'ann', scope: 'PUBLIC' })).action.id;
    const [commented, liked] = [await publish(), await publish()];
    await services.addInteraction(session('eve'), { actionId: commented, kind: 'COMMENT', text: 'So' });
    const like = (by: string) => services.addInteraction(session(by), { actionId: liked, kind: 'LIKE' });
    await like('bob');
    // More than a page reads at once: the comment is read on its own.
    await parts.database.collections.interactions.insertMany(
      Array.from({ length: 101 }, (_, n) => ({
        ...{ _id: new ObjectId(), actionId: new ObjectId(liked), key: `LIKE-${String(n)}`, kind: 'LIKE' },
        ...{ actorId: `m${String(n)}`, departmentIds: [], ownerId: 'ann' },
        ...{ at: new Date(), shownAt: new Date() },
      })),
    );
    const actors = async () => {
      const { edges } = await services.readNotifications(session('ann'), {});
      return edges.flatMap(({ node }) => actorsOf(node));
    };
    expect(await actors()).toContain('eve');
    await erase(parts, 'eve');
    await like('cid');
    const others = await actors();
    expect(others).toContain('cid');
    expect(others).not.toContain('eve');
  });

  test('is for admins', async () => {
    await using parts = await openParts();
    for (const roles of [['user'], ['service']] as const) {
      const { identity } = parts.session('ann', ...roles);
      await expect(parts.services.eraseMember(identity, 'ann')).rejects.toMatchObject({ code: 'FORBIDDEN' });
      await expect(parts.services.readErasure(identity, 'ann')).rejects.toMatchObject({ code: 'FORBIDDEN' });
    }
    await expect(parts.services.eraseMember(parts.admin, '')).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
    });
    expect(await parts.database.collections.erasures.countDocuments()).toBe(0);
  });

  test('is done at once for an unknown member, and any number of times', async () => {
    await using parts = await openParts();
    expect(await parts.services.readErasure(parts.admin, 'nobody')).toBeNull();
    for (let n = 0; n < 3; n++) {
      expect(await parts.services.eraseMember(parts.admin, 'nobody')).toBe(true);
      expect(await parts.services.readErasure(parts.admin, 'nobody')).toMatchObject({
        state: 'CONFIRMING',
        changed: 0,
        finishedAt: null,
      });
    }
    await erase(parts, 'nobody');
    expect(await parts.services.readErasure(parts.admin, 'nobody')).toMatchObject({
      state: 'DONE',
      requestedBy: 'admin',
      finishedAt: expect.any(Date) as Date,
    });
    await erase(parts, 'nobody');
    expect(await parts.database.collections.erasures.countDocuments()).toBe(1);
  });

  test('removes later data when it is repeated', async () => {
    await using world = await openErasureWorld();
    await erase(world.parts, ID);
    await world.parts.publish({ actorId: 'ann', mentions: [ID] });
    await world.parts.fanOut();
    const places = await placesOf(world.parts.database, ID);
    expect(places.map((place) => place.split(':')[0]).sort()).toEqual([
      'actions',
      'eventOutbox',
      'newsfeedItems',
    ]);
    await erase(world.parts, ID);
    expect(await placesOf(world.parts.database, ID)).toEqual([]);
  });

  test('removes in a second pass what was being written when it ended', async () => {
    await using world = await openErasureWorld();
    const { parts } = world;
    const dependencies = erasureParts(parts.database);
    expect(await eraseMember(dependencies, parts.admin, ID, Infinity)).toBe(true);
    // Deliveries and publications that had begun before.
    await parts.feedStore.deliver([
      {
        actionId: world.own.post,
        readers: [{ userId: ID, relevancy: new Date(), reasons: ['FOLLOW'] }],
        isFirstAttempt: true,
      },
    ]);
    await parts.publish({ actorId: ID, scope: 'PUBLIC' });
    await parts.repositories.followerCounts.add(new Map([[ID, 1]]), new Map([[ID, null]]));
    await finishErasures(parts, dependencies);
    expect(await placesOf(parts.database, ID, NAME)).toEqual([]);
    const actors = await parts.database.collections.actions.distinct('actorId');
    expect(actors.filter((actorId) => PSEUDONYM.test(actorId))).toHaveLength(1);
  });

  test('what is left of comments is announced, also if they were anonymised by an attempt that was interrupted', async () => {
    await using parts = await openParts();
    const { action } = await parts.publish({ scope: 'PUBLIC' });
    const { interaction } = await parts.services.addInteraction(parts.session(ID), {
      ...{ actionId: action.id, kind: 'COMMENT' as const, text: NAME },
    });
    const liveLog = new MemoryLiveLog();
    const leaving = new AbortController();
    const messages = await liveLog.watch({ userId: threadLog(action.id), signal: leaving.signal });
    const dependencies = erasureParts(parts.database, { liveLog });
    const own = memberTraces(dependencies);
    const traces = {
      ...own,
      async anonymiseInteractions(subject, limit) {
        await own.anonymiseInteractions(subject, limit);
        throw new Error('Interrupted');
      },
    } satisfies MemberTraces;
    await expect(eraseMember(dependencies, parts.admin, ID, Infinity, traces)).rejects.toThrow('Interrupted');
    await finishErasures(parts, dependencies);
    expect((await messages.next()).value?.kind).toBe('ready');
    expect(messages.takeEvents(100).map(({ event }) => event)).toContainEqual({
      ...{ kind: 'interaction', actionId: action.id, interactionId: interaction.id, isGone: false },
    });
    leaving.abort();
  });

  test('ends where another process has taken it over', async () => {
    await using parts = await openParts();
    const { action } = await parts.publish({ actorId: ID });
    const { erasures } = parts.database.collections;
    const dependencies = erasureParts(parts.database);
    const own = memberTraces(dependencies);
    const traces = {
      ...own,
      async conceal(subject: ErasureSubject) {
        await erasures.updateOne({}, { $set: { 'pass.owner': new ObjectId().toHexString() } });
        return own.conceal(subject);
      },
    } satisfies MemberTraces;
    expect(await eraseMember(dependencies, parts.admin, ID, Infinity, traces)).toBe(false);
    expect((await stored(parts, action.id)).actorId).toBe(ID);
  });

  test('rejects describing the member meanwhile, and does not touch a new one after the first pass', async () => {
    await using world = await openErasureWorld();
    const { parts } = world;
    const dependencies = erasureParts(parts.database);
    const upsert = () =>
      parts.services.upsertMembers(parts.service, [{ memberId: ID, name: 'Somebody Else' }]);
    // Begun, and not run at all.
    expect(await eraseMember(dependencies, parts.admin, ID, -1)).toBe(false);
    expect(await parts.services.readErasure(parts.admin, ID)).toMatchObject({ state: 'RUNNING' });
    await expect(upsert()).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await eraseMember(dependencies, parts.admin, ID, Infinity)).toBe(true);
    await upsert();
    await parts.services.follow(parts.session(ID), 'site', 0);
    const { action } = await parts.publish({ actorId: ID, scope: 'PUBLIC' });
    // A delivery to the one before.
    await parts.feedStore.deliver([
      {
        actionId: world.others.named,
        readers: [{ userId: ID, relevancy: new Date(), reasons: ['FOLLOW'] }],
        isFirstAttempt: true,
      },
    ]);
    await finishErasures(parts, dependencies);
    expect(await parts.repositories.members.find(ID)).toMatchObject({ name: 'Somebody Else' });
    expect(await parts.services.getAction(parts.session(ID), action.id)).toMatchObject({ actorId: ID });
    expect(await parts.feedOf(ID)).toEqual([]);
    expect((await parts.services.following(parts.session(ID), {})).edges).toHaveLength(1);
  });

  test('shows nobody the name from its start, whatever is still to be done', async () => {
    await using world = await openErasureWorld();
    const { parts } = world;
    const dying = crashingDatabase(parts.database, 6);
    await expect(eraseMember(erasureParts(dying), parts.admin, ID)).rejects.toThrow(Crash);
    const session = parts.session('ann');
    expect(await session.load(MEMBER, ID)).toMatchObject({ name: FORMER_MEMBER, teamId: null });
    expect(await session.load(REF, ID)).toMatchObject({ label: FORMER_MEMBER });
  });

  test('removes the data from the files too, once no other erasure is due; a failure is repeated', async () => {
    await using world = await openErasureWorld();
    const { parts } = world;
    const dependencies = erasureParts(parts.database);
    for (const memberId of [ID, 'ann']) await eraseMember(dependencies, parts.admin, memberId);
    const open: number[] = [];
    const failures: unknown[] = [];
    const forgetDeleted = async (): Promise<void> => {
      open.push(await parts.database.collections.erasures.countDocuments({ state: { $ne: 'DONE' } }));
      if (open.length === 1) throw new Error('busy');
    };
    await using worker = runnerOf(
      erasure,
      { ...dependencies, forgetDeleted },
      { every: 5, logger: reporting((error) => failures.push(error)) },
    );
    worker.start();
    await expect.poll(() => open, { timeout: PATIENCE_MS }).toEqual([0, 0]);
    await worker.stop();
    expect(failures).toEqual([new Error('busy')]);
    expect(open).toHaveLength(2);
  });

  test.each([
    // To count followers from scratch takes two writes, and only the one after them tells that it was done.
    ['one to four of its writes that change something', (run: number) => 1 + (run % 4), changesTraces, 10],
    ['its n-th write, of whatever kind', (run: number) => run, undefined, 20],
  ])('completes after crashes following %s', async (_name, writesOf, counts, least) => {
    await using world = await openErasureWorld();
    const { parts } = world;
    const before = (await othersView(parts)) as { feeds: object; engagement: object };
    const erasureTiming = { leaseMs: 1, confirmAfterMs: 0 };
    let crashes = 0;
    for (;;) {
      const dying = crashingDatabase(parts.database, writesOf(crashes + 1), counts);
      try {
        if (await eraseMember(erasureParts(dying, { erasureTiming }), parts.admin, ID, Infinity)) break;
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
        crashes += 1;
      }
    }
    expect(crashes).toBeGreaterThan(least);
    await finishErasures(parts);
    expect(await placesOf(parts.database, ID, NAME)).toEqual([]);
    const after = (await othersView(parts)) as typeof before & { followers: Record<string, number> };
    expect(after.feeds).toEqual(before.feeds);
    expect(after.engagement).toEqual(before.engagement);
    for (const [refId, count] of Object.entries(after.followers))
      expect([refId, count]).toEqual([refId, await parts.repositories.follows.countFollowers(refId)]);
    const actors = await parts.database.collections.actions.distinct('actorId');
    expect(actors.filter((actorId) => PSEUDONYM.test(actorId))).toHaveLength(1);
  });

  test('continues in the background where a request had to stop: 1,200 actions, 3,000 entries', async () => {
    await using parts = await openParts();
    await parts.services.upsertMembers(parts.service, [{ memberId: ID, name: NAME }]);
    await parts.services.followMany(parts.service, [{ followerId: 'ann', refId: ID }]);
    const fill = async (userId: string, actionIds: readonly string[]): Promise<void> => {
      const relevancy = new Date();
      const entries = actionIds.map((actionId) => ({ actionId, relevancy, reasons: ['FOLLOW' as const] }));
      for (let from = 0; from < entries.length; from += 1_000)
        await parts.feedStore.fill(userId, entries.slice(from, from + 1_000));
    };
    const published: string[] = [];
    for (let from = 0; from < 1_200; from += 400) {
      const outcomes = await parts.services.publishActions(
        parts.service,
        Array.from({ length: 400 }, (_, n) => ({
          actorId: ID,
          idempotencyKey: `${ID}-${String(from + n)}`,
          descriptor: { posted: { postId: `p${String(from + n)}`, text: `By ${NAME}` } },
        })),
      );
      published.push(...outcomes.flatMap(({ action }) => action?.id ?? []));
    }
    await fill('ann', published);
    await fill(
      ID,
      Array.from({ length: 3_000 }, () => new ObjectId().toHexString()),
    );
    const feed = await parts.feedOf('ann');
    expect(feed).toHaveLength(1_200);
    const dependencies = erasureParts(parts.database);
    expect(await eraseMember(dependencies, parts.admin, ID, 0)).toBe(false);
    expect(await parts.services.readErasure(parts.admin, ID)).toMatchObject({ state: 'RUNNING' });
    await finishErasures(parts, dependencies);
    const erasure = await parts.services.readErasure(parts.admin, ID);
    expect(erasure).toMatchObject({ state: 'DONE', step: null });
    // The actions, the entries, the follower, the profile once to conceal it and once to remove it.
    expect(erasure?.changed).toBeGreaterThanOrEqual(1_200 + 3_000 + 1 + 2);
    expect(await placesOf(parts.database, ID, NAME)).toEqual([]);
    expect(await parts.feedOf('ann')).toEqual(feed);
  });

  test('removes what workers deliver while it runs', async () => {
    await using parts = await openParts();
    await parts.services.upsertMembers(parts.service, [{ memberId: ID, name: NAME, teamId: 't1' }]);
    await parts.services.followMany(parts.service, [
      { followerId: ID, refId: 'actor' },
      { followerId: 'ann', refId: ID },
    ]);
    const actors = Array.from({ length: 60 }, (_, n) => (n % 2 === 0 ? ID : 'actor'));
    const published = await Promise.all(
      actors.map((actorId, n) => parts.publish({ actorId, mentions: n % 3 === 0 ? [ID, 'bob'] : ['bob'] })),
    );
    const dependencies = erasureParts(parts.database);
    {
      await using worker = parts.worker({ concurrency: 4 });
      worker.start();
      await Promise.all(
        published.map(({ action }) =>
          parts.services.addInteraction(parts.session(ID, 'admin'), {
            actionId: action.id,
            kind: 'LIKE',
          }),
        ),
      );
      await parts.services.rebuildFeed(parts.admin, ID);
      expect(await eraseMember(dependencies, parts.admin, ID, Infinity)).toBe(true);
      await using rebuilds = parts.rebuildWorker();
      rebuilds.start();
      await parts.idle();
    }
    await finishErasures(parts, dependencies);
    expect(await placesOf(parts.database, ID, NAME)).toEqual([]);
    expect(new Set(await parts.feedOf('bob'))).toEqual(new Set(published.map(({ action }) => action.id)));
    const liked = await parts.database.collections.actions.distinct('engagement.likes');
    expect(liked).toEqual([1]);
  });

  test('is done once for two concurrent requests', async () => {
    await using world = await openErasureWorld();
    const { parts } = world;
    const dependencies = erasureParts(parts.database);
    const answers = await Promise.all(
      [1, 2, 3].map(() => eraseMember(dependencies, parts.admin, ID, Infinity)),
    );
    expect(answers).toContain(true);
    await finishErasures(parts, dependencies);
    expect(await placesOf(parts.database, ID, NAME)).toEqual([]);
    const actors = await parts.database.collections.actions.distinct('actorId');
    expect(actors.filter((actorId) => PSEUDONYM.test(actorId))).toHaveLength(1);
  });

  test.each([1, 3])(
    'keeps deliveries to followers during the erasure, before follower %i is read',
    async (place) => {
      await using parts = await openParts();
      await parts.services.followMany(
        parts.service,
        OTHERS.map((followerId) => ({ followerId, refId: ID })),
      );
      const { action } = await parts.publish({ actorId: ID });
      const dependencies = erasureParts(parts.database);
      const { follows } = parts.repositories;
      let reads = 0;
      {
        // The action has been read by its old id, its followers have not, or not all of them.
        await using worker = parts.worker(
          {},
          {
            chunkSize: 1,
            follows: {
              ...follows,
              followers: async (...args: Parameters<typeof follows.followers>) => {
                if (++reads === place) await eraseMember(dependencies, parts.admin, ID);
                return follows.followers(...args);
              },
            },
          },
        );
        worker.start();
        await parts.idle();
      }
      await finishErasures(parts, dependencies);
      await parts.fanOut();
      for (const reader of OTHERS)
        expect([reader, await parts.feedOf(reader)]).toEqual([reader, [action.id]]);
      expect(await placesOf(parts.database, ID)).toEqual([]);
    },
  );

  test('keeps publications for followers while these are being moved', async () => {
    await using parts = await openParts();
    await parts.services.followMany(
      parts.service,
      OTHERS.map((followerId) => ({ followerId, refId: ID })),
    );
    const published: string[] = [];
    const dependencies = erasureParts(parts.database);
    const own = memberTraces(dependencies);
    const traces = {
      ...own,
      async moveFollowers(subject, now, limit) {
        if (published.length === 0) published.push((await parts.publish({ actorId: ID })).action.id);
        return own.moveFollowers(subject, new Date(now.getTime() + 1_000), limit);
      },
    } satisfies MemberTraces;
    expect(await eraseMember(dependencies, parts.admin, ID, Infinity, traces)).toBe(true);
    // Its followers are gone when it is delivered, though they followed when it was recorded.
    await parts.fanOut();
    await finishErasures(parts, dependencies);
    await parts.fanOut();
    for (const reader of OTHERS) expect([reader, await parts.feedOf(reader)]).toEqual([reader, published]);
    for (const reader of OTHERS) await parts.services.rebuildFeed(parts.admin, reader);
    await parts.fanOut();
    for (const reader of OTHERS) expect([reader, await parts.feedOf(reader)]).toEqual([reader, published]);
    expect(await placesOf(parts.database, ID)).toEqual([]);
  });

  test('removes nothing from its followers, and restores no follow that they removed meanwhile', async () => {
    await using parts = await openParts();
    await parts.services.followMany(
      parts.service,
      ['ann', 'bob'].map((followerId) => ({ followerId, refId: ID })),
    );
    const { action } = await parts.publish({ actorId: ID });
    await parts.fanOut();
    let isTakenBack = false;
    const dependencies = erasureParts(parts.database);
    const own = memberTraces(dependencies);
    const traces = {
      ...own,
      async moveFollowers(subject, now, limit) {
        if (!isTakenBack) await parts.services.unfollow(parts.session('ann'), ID, false);
        isTakenBack = true;
        return own.moveFollowers(subject, now, limit);
      },
    } satisfies MemberTraces;
    expect(await eraseMember(dependencies, parts.admin, ID, Infinity, traces)).toBe(true);
    await finishErasures(parts, dependencies);
    await parts.fanOut();
    expect(await parts.feedOf('ann')).toEqual([]);
    expect(await parts.feedOf('bob')).toEqual([action.id]);
    expect(await placesOf(parts.database, ID)).toEqual([]);
  });
});
