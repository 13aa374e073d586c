import { expect, test } from 'vitest';
import { itemsModel } from '../../../src/feed/models/items.ts';
import { createRepositories } from '../../../src/app/repositories.ts';
import { crashingDatabase } from '../../support/crashing.ts';
import type { DeliveryOutcome } from '../../../src/feed/feed-store.ts';
import { StoreUnavailable } from '../../../src/storage/database/errors.ts';
import { newObjectId } from '../../../src/storage/database/mongo.ts';
import { reporting } from '../../support/jobs.ts';
import { openParts, silentObserver, type Parts } from '../../support/parts.ts';
import { watching, type Watching } from '../../support/watching.ts';
import { commandsOf } from '../../support/commands.ts';
import { claimOne } from '../../support/claim-one.ts';

const READERS = ['ann', 'bob', 'cid'];

/** What is sent before an action that comes last. */
async function notifiedBefore(parts: Parts, watch: Watching): Promise<string[]> {
  const { action } = await parts.publish({ scope: 'RESTRICTED', recipients: READERS });
  await parts.fanOut();
  const notified: string[] = [];
  for (;;) {
    const event = await watch.next();
    if (event.kind === 'added' && event.item.actionId === action.id) return notified;
    notified.push(event.kind === 'added' || event.kind === 'updated' ? event.item.actionId : event.kind);
  }
}

async function watchAs(parts: Parts, userId: string): Promise<Watching> {
  return watching(parts.services, parts.session(userId).identity, { withUnread: false });
}

test('notifies readers of an interrupted pass, also if the action has changed since', async () => {
  await using parts = await openParts();
  await parts.services.followMany(
    parts.service,
    READERS.map((followerId) => ({ followerId, refId: 'actor' })),
  );
  const { action } = await parts.publish({});
  await using watch = await watchAs(parts, 'bob');
  const { fanOuts } = parts.repositories;
  const dead = await claimOne(fanOuts, 'dead', new Date(), 0);
  if (dead === null) throw new Error('There is nothing to claim');
  // Ann was written to and told; Bob was written to.
  await parts.feedStore.deliver([
    {
      actionId: action.id,
      readers: ['ann', 'bob'].map((userId) => ({ userId, relevancy: action.latest, reasons: ['FOLLOW'] })),
      isFirstAttempt: true,
    },
  ]);
  await fanOuts.checkpoint(dead, { afterUserId: 'ann', delivered: 1 }, new Date());
  // Boosts nothing: no later pass finds anything to change in Bob's feed.
  await parts.services.addInteraction(parts.session('cid', 'admin'), {
    ...{ actionId: action.id, kind: 'LIKE', at: action.conducted },
  });
  await using worker = parts.worker({}, { chunkSize: 1 });
  worker.start();
  await parts.idle();
  await worker.stop();
  // Of the death and of the like: at least once.
  expect(new Set(await notifiedBefore(parts, watch))).toEqual(new Set([action.id]));
  const [done] = await parts.repositories.actions.findByIds([action.id]);
  expect(done?.fanOut).toMatchObject({ state: 'DONE', delivered: 3 });
});

test('delivers together what a worker had claimed when it died, and notifies of what that may have written', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const published: string[] = [];
  for (let n = 0; n < 6; n++) published.push((await parts.publish({ mentions: ['bob'] })).action.id);
  const lanes = [{ lane: 'LIVE', most: 6 }] as const;
  const { claims } = await parts.repositories.fanOuts.claim('dead', new Date(), 0, { lanes });
  expect(claims.length).toBe(6);
  const [written] = claims;
  if (written === undefined) throw new Error('There is nothing to claim');
  const { id: actionId, latest: relevancy } = written.action;
  await parts.feedStore.deliver([
    { actionId, readers: [{ userId: 'bob', relevancy, reasons: ['MENTION'] }], isFirstAttempt: true },
  ]);
  await using watch = await watchAs(parts, 'bob');
  const commands = await commandsOf(parts.database, () => parts.fanOut());
  expect(
    commands.filter(({ name, collection }) => name === 'insert' && collection === 'newsfeedItems').length,
  ).toBe(1);
  expect((await notifiedBefore(parts, watch)).sort()).toEqual(published.sort());
  const states = await parts.repositories.actions.findByIds(published);
  expect(states.map(({ fanOut }) => [fanOut.state, fanOut.delivered])).toEqual(
    published.map(() => ['DONE', 1]),
  );
});

test('notifies once of each change of an uninterrupted pass, also of one that moves nothing', async () => {
  await using parts = await openParts();
  await using watch = await watchAs(parts, 'bob');
  const { action } = await parts.publish({ mentions: ['bob'] });
  await parts.fanOut();
  expect(await watch.next()).toMatchObject({ kind: 'added', item: { action: { engagement: { likes: 0 } } } });
  const like = { actionId: action.id, kind: 'LIKE', at: action.conducted };
  await parts.services.addInteraction(parts.session('cid', 'admin'), like);
  await parts.fanOut();
  expect(await watch.next()).toMatchObject({
    ...{ kind: 'updated', item: { relevancy: action.latest, action: { engagement: { likes: 1 } } } },
  });
  // A repetition changes nothing.
  await parts.services.addInteraction(parts.session('cid', 'admin'), like);
  await parts.services.removeInteraction(parts.session('cid', 'admin'), {
    own: { actionId: action.id, kind: 'LIKE' },
  });
  await parts.fanOut();
  expect(await watch.next()).toMatchObject({
    ...{ kind: 'updated', item: { relevancy: action.latest, action: { engagement: { likes: 0 } } } },
  });
  expect(await notifiedBefore(parts, watch)).toEqual([]);
});

test('notifies of an action that was hidden when its event was to be sent and is shown again before any pass', async () => {
  await using parts = await openParts();
  await using watch = await watchAs(parts, 'bob');
  const { action } = await parts.publish({ mentions: ['bob'] });
  await parts.fanOut();
  const { action: next } = await parts.publish({ mentions: ['bob'] });
  await parts.fanOut();
  await parts.services.hideAction(parts.session('admin', 'admin'), action.id, null);
  expect(await watch.next()).toMatchObject({ kind: 'added', item: { actionId: next.id } });
  await parts.services.unhideAction(parts.session('admin', 'admin'), action.id);
  await parts.fanOut();
  expect((await notifiedBefore(parts, watch)).at(-1)).toBe(action.id);
});

test('notifies of a ref that was not followed when its event was to be sent and is followed again', async () => {
  await using parts = await openParts();
  await parts.services.follow(parts.session('bob'), 'actor', 0);
  await using watch = await watchAs(parts, 'bob');
  const { action } = await parts.publish({});
  await parts.fanOut();
  const { action: next } = await parts.publish({ actorId: 'other', mentions: ['bob'] });
  await parts.fanOut();
  await parts.services.unfollow(parts.session('bob'), 'actor', false);
  expect(await watch.next()).toMatchObject({ kind: 'added', item: { actionId: next.id } });
  // A delivery that had read the followers before comes late.
  const late = { userId: 'bob', relevancy: action.latest, reasons: ['FOLLOW' as const] };
  await parts.feedStore.deliver([{ actionId: action.id, readers: [late], isFirstAttempt: false }]);
  await parts.services.follow(parts.session('bob'), 'actor', 10);
  // The removal is sent when the item is back: both events tell it.
  expect((await notifiedBefore(parts, watch)).at(-1)).toBe(action.id);
});

test('sends a resync to readers of an interrupted rebuild', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({ mentions: ['bob'] });
  await parts.fanOut();
  await parts.feedStore.drop('bob');
  await using watch = await watchAs(parts, 'bob');
  await parts.services.rebuildFeed(parts.admin, 'bob');
  const { feedRebuilds } = parts.repositories;
  expect(await feedRebuilds.claimDue(new Date(), 0)).toMatchObject([{ userId: 'bob', wasCutOff: false }]);
  // It came as far as this.
  await parts.feedStore.fill('bob', [
    { actionId: action.id, relevancy: action.latest, reasons: ['MENTION'] },
  ]);
  await parts.fanOut();
  expect(await notifiedBefore(parts, watch)).toEqual(['resync']);
  await parts.services.rebuildFeed(parts.admin, 'bob');
  await parts.fanOut();
  expect(await notifiedBefore(parts, watch)).toEqual([]);
});

test('sends a resync to readers of an interrupted follow when it is completed', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({});
  await parts.fanOut();
  await using watch = await watchAs(parts, 'bob');
  const span = { followerId: 'bob', refId: 'actor', since: action.recorded };
  const tokens = { opened: newObjectId(), extended: newObjectId(), changed: newObjectId() };
  await parts.repositories.follows.open([span], tokens);
  await parts.feedStore.fill('bob', [{ actionId: action.id, relevancy: action.latest, reasons: ['FOLLOW'] }]);
  await parts.services.follow(parts.session('bob'), 'actor', 0);
  expect(await notifiedBefore(parts, watch)).toEqual([action.id, 'resync']);
});

/** Passes an answer on, but for the first: the store did what it was asked, and was away before it could say so. */
function awayOnce<T>(): (answer: T) => T {
  let wasAway = false;
  return (answer) => {
    if (wasAway) return answer;
    wasAway = true;
    throw new StoreUnavailable('The store is away');
  };
}

test('does not count a missing store as an attempt, and notifies readers of the interrupted pass', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({ mentions: ['bob'] });
  await parts.fanOut();
  await using watch = await watchAs(parts, 'bob');
  await parts.services.addInteraction(parts.session('cid', 'admin'), {
    ...{ actionId: action.id, kind: 'COMMENT' },
  });
  const { feedStore } = parts;
  const goesAway = awayOnce<readonly DeliveryOutcome[]>();
  let error: string | null = null;
  await using worker = parts.worker(
    { maxAttempts: 1 },
    {
      feedStore: { ...feedStore, deliver: (chunk) => feedStore.deliver(chunk).then(goesAway) },
      observer: {
        ...silentObserver,
        failed: (_claim, cause, isFinal) => {
          error = `${String(cause)}, ${isFinal ? 'for good' : 'until later'}`;
        },
      },
    },
  );
  worker.start();
  await parts.idle();
  await worker.stop();
  expect(error).toMatch(/The store is away, until later/);
  const [done] = await parts.repositories.actions.findByIds([action.id]);
  expect(done?.fanOut).toMatchObject({ state: 'DONE', attempts: 1, delivered: 1 });
  expect(await notifiedBefore(parts, watch)).toEqual([action.id]);
});

test('rebuilds a feed when its store is available again, and sends its reader a resync', async () => {
  await using parts = await openParts();
  await parts.publish({ mentions: ['bob'] });
  await parts.fanOut();
  await parts.feedStore.drop('bob');
  await using watch = await watchAs(parts, 'bob');
  await parts.services.rebuildFeed(parts.admin, 'bob');
  const { feedStore } = parts;
  const goesAway = awayOnce<readonly string[]>();
  const failures: unknown[] = [];
  await using rebuilds = parts.rebuildWorker(
    {
      feedStore: {
        ...feedStore,
        fill: async (userId, entries, options) => {
          const added = await feedStore.fill(userId, entries, options);
          return entries.length > 0 ? goesAway(added) : added;
        },
      },
    },
    { logger: reporting((error) => failures.push(error)) },
  );
  rebuilds.start();
  await parts.idle();
  await rebuilds.stop();
  expect(failures).toEqual([expect.any(StoreUnavailable)]);
  expect((await feedStore.page({ userId: 'bob', limit: 10 })).entries).toHaveLength(1);
  expect(await notifiedBefore(parts, watch)).toEqual(['resync']);
});

/** Runs the passes that are due; the database fails once when they ask which watchers are addressed. */
async function passThroughFailure(parts: Parts): Promise<void> {
  const { follows } = parts.repositories;
  let hasFailed = false;
  await using worker = parts.worker(
    {},
    {
      follows: {
        ...follows,
        findPairs(pairs) {
          if (hasFailed) return follows.findPairs(pairs);
          hasFailed = true;
          return Promise.reject(new Error('The database is away'));
        },
      },
      onLiveLogError: () => undefined,
    },
  );
  worker.start();
  await parts.idle();
  expect(hasFailed).toBe(true);
}

test('notifies watchers who pull an action though the database failed when it was to be announced', async () => {
  await using parts = await openParts({ pullRefreshMs: -1 });
  await parts.services.followMany(parts.service, [{ followerId: 'bob', refId: 'actor' }]);
  await parts.database.collections.refs.updateOne(
    { _id: 'actor' },
    { $set: { isPulled: true, pullSince: new Date(0) } },
  );
  await using watch = await watchAs(parts, 'bob');
  const { action } = await parts.publish({});
  await passThroughFailure(parts);
  expect(await notifiedBefore(parts, watch)).toEqual([action.id]);
});

test('notifies watchers of an interrupted withdrawal though the database failed when its pass notified them', async () => {
  await using parts = await openParts();
  await parts.services.followMany(parts.service, [{ followerId: 'bob', refId: 'actor' }]);
  const { action } = await parts.publish({});
  await parts.fanOut();
  await using watch = await watchAs(parts, 'bob');
  const at = new Date(Date.now() - 60_000);
  await parts.repositories.moderation.apply(action.id, { kind: 'HIDE', by: 'admin', at, reason: null });
  await passThroughFailure(parts);
  expect(await notifiedBefore(parts, watch)).toEqual(['removed']);
});

test('notifies watchers who lost an action by an edit though the database failed when they were to be notified', async () => {
  await using parts = await openParts();
  await parts.services.followMany(parts.service, [{ followerId: 'bob', refId: 'actor' }]);
  const { action } = await parts.publish({});
  await parts.fanOut();
  await using watch = await watchAs(parts, 'bob');
  await parts.services.updateAction(parts.session('actor'), action.id, {
    scope: 'RESTRICTED',
    recipients: ['ann'],
  });
  await passThroughFailure(parts);
  expect(await notifiedBefore(parts, watch)).toEqual(['removed']);
});

test.each([1, 2, 3, 4])(
  'a batch whose worker dies after write %i is delivered once, and its watchers are notified',
  async (writes) => {
    await using parts = await openParts({ recordsEvents: true });
    await parts.services.followMany(
      parts.service,
      READERS.map((followerId) => ({ followerId, refId: 'actor' })),
    );
    const inputs = Array.from({ length: 5 }, (_, n) => ({
      ...{ actorId: 'actor', mentions: [`reader-${String(n)}`] },
      descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: String(n) } },
    }));
    const outcomes = await parts.services.publishActions(parts.service, inputs);
    const ids = outcomes.flatMap(({ action }) => action?.id ?? []);
    await using bob = await watchAs(parts, 'bob');
    const crashing = crashingDatabase(parts.database, writes);
    const dying = {
      ...createRepositories(crashing.collections, { recordsEvents: true }),
      feedStore: itemsModel.open({ db: crashing.db, cap: 1_000, redis: [] }),
    };
    let isDead: () => void = () => undefined;
    const death = new Promise<void>((resolve) => (isDead = resolve));
    {
      const observer = {
        ...silentObserver,
        failed: () => {
          isDead();
        },
        claimFailed: () => {
          isDead();
        },
      };
      await using worker = parts.worker({ concurrency: 5, leaseMs: 1, observer }, dying);
      worker.start();
      await death;
    }
    await parts.fanOut();
    const notified = new Set(await notifiedBefore(parts, bob));
    expect(ids.filter((id) => !notified.has(id))).toEqual([]);
    for (const userId of READERS)
      expect([userId, (await parts.feedOf(userId)).filter((id) => ids.includes(id)).sort()]).toEqual([
        userId,
        [...ids].sort(),
      ]);
    const items = parts.database.db.collection('newsfeedItems');
    expect(await items.countDocuments({ userId: { $regex: /^reader-/ } })).toBe(ids.length);
  },
);
