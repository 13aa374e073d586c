import { expect, test } from 'vitest';
import type { Core } from '../../src/core/core.ts';
import { addInteraction } from '../../src/features/interactions/add-interaction.ts';
import {
  hideInteraction,
  unhideInteraction,
  updateInteraction,
} from '../../src/features/interactions/moderate-interaction.ts';
import { removeInteraction } from '../../src/features/interactions/remove-interaction.ts';
import { createRepositories } from '../../src/app/repositories.ts';
import { settleAbandonedInteractions } from '../../src/features/upkeep/jobs/upkeep.ts';
import { itemsModel } from '../../src/feed/models/items.ts';
import { openSession } from '../../src/feed/session/open-session.ts';
import { Crash, crashingCollections, crashingDatabase } from '../support/crashing.ts';
import { openParts, type Parts } from '../support/parts.ts';
import { IS_DEEP } from '../support/seed.ts';

/** More than any of the calls below has. */
const MOST_WRITES = 12;
const at = new Date('2026-03-01T00:00:00Z');

interface Scene {
  readonly actionId: string;
  /** A comment of ann, with a later one of bob beside it. */
  readonly commentId: string;
  /** Of cid, hidden. */
  readonly hiddenId: string;
}

const CALLS: Readonly<Record<string, (parts: Parts, core: Core, scene: Scene) => Promise<unknown>>> = {
  'a like': (parts, core, { actionId }) =>
    addInteraction(core, parts.session('ann'), { actionId, kind: 'LIKE' }),
  'a comment with a key': (parts, core, { actionId }) =>
    addInteraction(core, parts.session('ann'), {
      ...{ actionId, kind: 'COMMENT', idempotencyKey: 'k', text: 'x' },
    }),
  'a reshare given again': (parts, core, { actionId }) =>
    addInteraction(core, parts.session('ann'), { actionId, kind: 'RESHARE' }),
  'taking all own reactions back': (parts, core, { actionId }) =>
    removeInteraction(core, parts.session('ann'), { own: { actionId, kind: 'REACTION' } }),
  'taking own comments back': (parts, core, { actionId }) =>
    removeInteraction(core, parts.session('ann'), { own: { actionId, kind: 'COMMENT' } }),
  'removing by id': (parts, core, { commentId }) =>
    removeInteraction(core, parts.session('ann'), { id: commentId }),
  hiding: (parts, core, { commentId }) => hideInteraction(core, parts.session('admin', 'admin'), commentId),
  'showing again': (parts, core, { hiddenId }) =>
    unhideInteraction(core, parts.session('admin', 'admin'), hiddenId),
  'a change by an admin': (parts, core, { commentId }) =>
    updateInteraction(core, parts.session('admin', 'admin'), commentId, 'Better'),
};

async function openScene(parts: Parts): Promise<Scene> {
  const { action } = await parts.publish({
    ...{ scope: 'PUBLIC', mentions: ['reader'], conducted: new Date('2026-01-01T00:00:00Z') },
  });
  const actionId = action.id;
  const add = async (userId: string, kind: string, more: object = {}): Promise<string> =>
    (await parts.services.addInteraction(parts.session(userId, 'admin'), { actionId, kind, at, ...more }))
      .interaction.id;
  const commentId = await add('ann', 'COMMENT', { text: 'First' });
  await add('bob', 'COMMENT', { at: new Date('2026-02-01T00:00:00Z') });
  await add('ann', 'REACTION', { reaction: '👍' });
  await add('ann', 'REACTION', { reaction: '🎉' });
  await add('ann', 'RESHARE');
  await parts.services.removeInteraction(parts.session('ann'), { own: { actionId, kind: 'RESHARE' } });
  const hiddenId = await add('cid', 'COMMENT', { text: 'Hidden' });
  await parts.services.hideInteraction(parts.session('admin', 'admin'), hiddenId, null);
  return { actionId, commentId, hiddenId };
}

async function outcomeOf(parts: Parts, { actionId }: Scene): Promise<object> {
  const [action] = await parts.repositories.actions.findByIds([actionId]);
  const { lastInteraction, ...counts } = action?.engagement ?? {};
  const log = await parts.services.readModerationLog(parts.session('admin', 'admin'), { actionId });
  const [entry] = await parts.feedStore.find('reader', [actionId]);
  return {
    counts,
    isLately: (lastInteraction?.getTime() ?? 0) > at.getTime(),
    isBumped: (entry?.relevancy.getTime() ?? 0) > at.getTime(),
    log: log.edges.map(({ node }) => node.kind),
  };
}

/** Nothing is left to do. */
async function expectSettled({ repositories, database }: Parts): Promise<void> {
  const soon = new Date(Date.now() + 60_000);
  expect(await repositories.interactions.unsettledBefore(soon, 10)).toEqual([]);
  expect(await database.collections.interactions.countDocuments({ 'unlogged.0': { $exists: true } })).toBe(0);
}

/** False: it came to its end. */
async function isCutOff(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return false;
  } catch (error) {
    if (error instanceof Crash) return true;
    throw error;
  }
}

test.each(Object.entries(CALLS).map(([name, call], n) => ({ name, call, n })))(
  '$name, interrupted after any write: repeated or not, the counts become correct',
  async ({ call, n }) => {
    await using parts = await openParts();
    const good = parts.core;
    const whole = await openScene(parts);
    await call(parts, good, whole);
    const repeated: Scene[] = [];
    const abandoned: Scene[] = [];
    for (let writes = 1, isOver = false; !isOver && writes <= MOST_WRITES; writes += 1)
      // A usual run repeats after every other write, and leaves it after those between.
      for (const scenes of IS_DEEP
        ? [repeated, abandoned]
        : [(writes + n) % 2 === 0 ? repeated : abandoned]) {
        const scene = await openScene(parts);
        const dying = createRepositories(crashingCollections(parts.database.collections, writes));
        isOver = !(await isCutOff(call(parts, { ...parts.core, ...dying }, scene)));
        if (!isOver) scenes.push(scene);
      }
    for (const scene of repeated) await call(parts, good, scene);
    // What is left to be settled has been left for long.
    await settleAbandonedInteractions(parts.repositories, new Date(Date.now() + 3_600_000));
    await parts.fanOut();
    const expected = await outcomeOf(parts, whole);
    for (const scene of [...repeated, ...abandoned]) expect(await outcomeOf(parts, scene)).toEqual(expected);
    await expectSettled(parts);
    expect(Math.abs(abandoned.length - repeated.length)).toBeLessThanOrEqual(1);
    expect(abandoned.length + repeated.length).toBeGreaterThanOrEqual(3);
    expect(Math.max(abandoned.length, repeated.length)).toBeLessThan(MOST_WRITES);
  },
);

test.each([
  ['hiding', 'before'],
  ['hiding', 'after'],
  ['showing again', 'after'],
  ['removing by id', 'before'],
] as const)(
  '%s, interrupted %s its action is hidden and not repeated, leaves the right counts of it',
  async (name, when) => {
    await using parts = await openParts();
    const [whole, abandoned] = [await openScene(parts), await openScene(parts)];
    const call = CALLS[name];
    if (call === undefined) throw new Error(`There is no call ${name}`);
    const dying = createRepositories(crashingCollections(parts.database.collections, 1));
    const carryOut = async () => {
      await call(parts, parts.core, whole);
      expect(await isCutOff(call(parts, { ...parts.core, ...dying }, abandoned))).toBe(true);
    };
    if (when === 'before') await carryOut();
    for (const { actionId } of [whole, abandoned])
      await parts.services.hideAction(parts.session('admin', 'admin'), actionId, null);
    if (when === 'after') await carryOut();
    await settleAbandonedInteractions(parts.repositories, new Date(Date.now() + 3_600_000));
    await parts.fanOut();
    const countsOf = async ({ actionId }: Scene) =>
      (await parts.repositories.actions.findByIds([actionId]))[0]?.engagement;
    expect(await countsOf(abandoned)).toEqual(await countsOf(whole));
    await expectSettled(parts);
  },
);

test.each([1, 2, 3, 4].flatMap((writes) => [[writes, 'repeated'] as const, [writes, 'left'] as const]))(
  'a comment without a pass, interrupted after write %i and %s, is counted once and lifts its action for everybody',
  async (writes, what) => {
    await using parts = await openParts();
    const readers = ['mate', 'reader'];
    await parts.services.upsertMembers(
      parts.service,
      ['ann', 'mate'].map((memberId) => ({ memberId, name: memberId, departmentId: 'sales' })),
    );
    await parts.services.followMany(
      parts.service,
      readers.map((followerId) => ({ followerId, refId: 'actor' })),
    );
    const { action } = await parts.publish({
      ...{ actorId: 'actor', scope: 'PUBLIC', conducted: new Date('2026-01-01T00:00:00Z') },
    });
    await parts.fanOut();
    const { actions } = parts.database.collections;
    await actions.updateOne({}, { $set: { 'fanOut.doneAt': new Date(0) } });
    const { collections, db } = crashingDatabase(parts.database, writes);
    const core: Core = {
      ...{ ...parts.core, ...createRepositories(collections) },
      feedStore: itemsModel.open({ db, cap: 1_000, redis: [] }),
    };
    const comment = { actionId: action.id, kind: 'COMMENT', text: 'Well said', idempotencyKey: 'once', at };
    const { identity } = parts.session('ann', 'admin');
    expect(await isCutOff(addInteraction(core, openSession(core, identity), comment))).toBe(true);
    expect((await parts.repositories.actions.findByIds([action.id]))[0]?.fanOut.state).toBe('DONE');
    if (what === 'repeated') await parts.services.addInteraction(parts.session('ann', 'admin'), comment);
    else await settleAbandonedInteractions(parts.repositories, new Date(Date.now() + 3_600_000));
    // Its pass is due in an hour, too.
    const isWaiting = { 'fanOut.state': 'PENDING' as const };
    await actions.updateMany(isWaiting, { $set: { 'fanOut.leaseUntil': new Date(0) } });
    await parts.fanOut();
    await expectSettled(parts);
    const [stored] = await parts.repositories.actions.findByIds([action.id]);
    expect(stored).toMatchObject({ engagement: { comments: 1 }, fanOut: { state: 'DONE' } });
    const places = async () => {
      const found = await Promise.all(readers.map((userId) => parts.feedStore.find(userId, [action.id])));
      return found.map(([entry]) => entry?.relevancy.getTime() ?? NaN);
    };
    const lifted = await places();
    expect(lifted[0]).toBe(at.getTime());
    expect(lifted[1]).toBeGreaterThan(action.conducted.getTime());
    for (const userId of readers) await parts.services.rebuildFeed(parts.admin, userId);
    await parts.fanOut();
    expect(await places()).toEqual(lifted);
  },
);

/** What somebody may do to what was recorded, without knowing that it was cut off. */
const AFTERWARDS: Readonly<
  Record<
    string,
    (parts: Parts, of: { actionId: string; id: string; kind: 'RESHARE' | 'LIKE' }) => Promise<unknown>
  >
> = {
  'taken back': ({ services, session }, { actionId, kind }) =>
    services.removeInteraction(session('ann'), { own: { actionId, kind } }),
  'taken back by its id': ({ services, session }, { id }) =>
    services.removeInteraction(session('ann'), { id }),
  hidden: ({ services, session }, { id }) => services.hideInteraction(session('admin', 'admin'), id, null),
};

test.each(
  Object.entries(AFTERWARDS).flatMap(([name, change]) =>
    (['RESHARE', 'LIKE'] as const).map((kind) => ({ kind, name, change })),
  ),
)(
  'a $kind that was interrupted before its action was marked, and is $name, has boosted it nevertheless',
  async ({ kind, change }) => {
    await using parts = await openParts();
    const conducted = new Date('2026-01-01T00:00:00Z');
    const { action } = await parts.publish({ scope: 'PUBLIC', mentions: ['reader'], conducted });
    const actionId = action.id;
    await parts.fanOut();
    const dying = createRepositories(crashingCollections(parts.database.collections, 1));
    const record = addInteraction({ ...parts.core, ...dying }, parts.session('ann', 'admin'), {
      actionId,
      kind,
      at,
    });
    expect(await isCutOff(record)).toBe(true);
    const [cutOff] = await parts.repositories.interactions.unsettledBefore(new Date(Date.now() + 60_000), 2);
    await change(parts, { actionId, kind, id: cutOff?.interaction.id ?? '' });
    await expectSettled(parts);
    await parts.fanOut();
    const [entry] = await parts.feedStore.find('reader', [actionId]);
    expect(entry?.relevancy).toEqual(at);
    const [marked] = await parts.repositories.actions.findByIds([actionId]);
    const { likes, reshares, lastInteraction } = marked?.engagement ?? {};
    expect({ likes, reshares, lastInteraction }).toEqual({ likes: 0, reshares: 0, lastInteraction: null });
  },
);

test('an action that cannot be marked does not keep the interactions of others from being completed', async () => {
  await using parts = await openParts();
  const ids: string[] = [];
  for (let number = 0; number < 3; number += 1) {
    const { action } = await parts.publish({ scope: 'PUBLIC' });
    const dying = createRepositories(crashingCollections(parts.database.collections, 1));
    const like = { ...{ actionId: action.id, at }, kind: 'LIKE' };
    expect(
      await isCutOff(addInteraction({ ...parts.core, ...dying }, parts.session('ann', 'admin'), like)),
    ).toBe(true);
    ids.push(action.id);
  }
  const [broken = '', ...others] = ids;
  const { engagement } = parts.repositories;
  const markInteraction: typeof engagement.markInteraction = (id, change, claim) =>
    id === broken ? Promise.reject(new Error('broken')) : engagement.markInteraction(id, change, claim);
  const inAnHour = new Date(Date.now() + 3_600_000);
  const settling = settleAbandonedInteractions(
    { ...parts.core, engagement: { ...engagement, markInteraction } },
    inAnHour,
  );
  await expect(settling).rejects.toThrow('broken');
  const likesOf = async (some: readonly string[]): Promise<unknown> =>
    (await parts.repositories.actions.findByIds(some)).map(({ engagement }) => engagement.likes);
  expect(await likesOf(others)).toEqual([1, 1]);
  expect(await likesOf([broken])).toEqual([0]);
  await settleAbandonedInteractions(parts.repositories, inAnHour);
  expect(await likesOf([broken])).toEqual([1]);
  await expectSettled(parts);
});
