import { ObjectId } from 'mongodb';
import type { ActionId } from '../../../src/domain/action.ts';
import type { PublishActionInput } from '../../../src/core/shapes.ts';
import type { FanOutDocument } from '../../../src/storage/documents/documents.ts';
import { feedFor } from '../../support/model.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';
import { referenceOf } from './reference.ts';
import { ACTOR, BOSS, DEPARTMENTS, SITES, TEAMS, type World } from './world.ts';

/** Work that a worker has got to do, and how far it has come. */
export interface Work {
  /** Deliveries, removals or rebuilds. At least 2. */
  readonly total: number;
  done(): Promise<number>;
}

const DAY = 86_400_000;
/** Actions that one piece of work is about. */
const AT_ONCE = 3;

type Begin = (world: World, random: SeededRandom) => Promise<Work>;

/** What a worker may be at, each begun by the test. */
export const WORKS: Readonly<Record<string, Begin>> = {
  'new actions': async (world, random) => {
    const ids = await publish(world, random, AT_ONCE + 1);
    return passesOf(world, ids);
  },
  bumps: async (world, random) => {
    const ids = await someHeld(world, random);
    const { services, session } = world.app;
    for (const actionId of ids)
      await services.addInteraction(session(random.pick([BOSS, ...world.readers]), 'admin'), {
        actionId,
        kind: random.pick(['COMMENT', 'COMMENT', 'LIKE', 'RESHARE']),
      });
    return passesOf(world, ids);
  },
  'cascade deletes': async (world, random) => {
    const ids = await someHeld(world, random);
    const { services, session } = world.app;
    const held = async (): Promise<number> =>
      (await Promise.all(ids.map((id) => world.store.holders(id, { limit: 1_000 })))).flat().length;
    const total = await held();
    for (const [n, id] of ids.entries())
      if (n === 0) await services.hideAction(session('admin', 'admin'), id, null);
      else await services.deleteAction(session('admin', 'admin'), id);
    return { total, done: async () => total - (await held()) };
  },
  rebuilds: async (world, random) => {
    const { services, identity, session, app } = world.app;
    const [moved, ...others] = [...world.readers].sort(() => random.next() - 0.5);
    const some = others.slice(0, 10);
    // A membership that starts over, a supervisor that changes, a follow with its past, and feeds rebuilt as they are.
    await services.upsertMembers(
      identity('service', 'service'),
      some.slice(0, 6).map((memberId) => ({
        memberId,
        name: memberId,
        departmentId: random.pick([...DEPARTMENTS, null]),
        teamId: random.pick([...TEAMS, null]),
        supervisorId: random.pick([BOSS, null]),
      })),
    );
    for (const reader of some.slice(6)) await services.rebuildFeed(identity('admin', 'admin'), reader);
    const site = random.pick(SITES);
    await services.unfollow(session(moved ?? ''), site, random.next() < 0.5);
    await services.follow(session(moved ?? ''), random.pick(SITES), 5);
    return { total: some.length, done: async () => some.length - (await app.openRebuilds()) };
  },
};

/** Actions of many kinds, most of them for everybody; some of them with interactions already. */
export async function publish(
  { app: { services, identity } }: World,
  random: SeededRandom,
  count: number,
): Promise<ActionId[]> {
  const inputs = Array.from({ length: count }, (_, n): PublishActionInput => {
    const scope =
      n < AT_ONCE
        ? random.pick(['PUBLIC', 'FOLLOWERS'] as const)
        : random.pick(['TEAM', 'DEPARTMENT'] as const);
    return {
      actorId: ACTOR,
      scope,
      conducted: random.next() < 0.5 ? undefined : new Date(Date.now() - random.below(20) * DAY),
      mentions: random.next() < 0.3 ? ['r00', 'r05', 'r17'] : [],
      refs: random.next() < 0.5 ? [{ id: random.pick(SITES), type: 'site', label: 'Site' }] : [],
      descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: String(n) } },
    };
  });
  const outcomes = await services.publishActions(identity('service', 'service'), inputs);
  return outcomes.map(({ action, error }) => {
    if (action === null) throw new Error(error.message);
    return action.id;
  });
}

/** Some of the newest actions that everybody may have in their feeds. */
async function someHeld(world: World, random: SeededRandom): Promise<ActionId[]> {
  const reference = await referenceOf(world.app.app.database.collections, world.readers);
  const [first] = reference.readers;
  if (first === undefined) throw new Error('There are no readers');
  const newest = feedFor(reference, first)
    .map(({ action }) => action)
    .filter(({ scope }) => scope === 'PUBLIC' || scope === 'FOLLOWERS')
    .slice(0, 8)
    .map(({ id }) => id);
  return [...newest].sort(() => random.next() - 0.5).slice(0, AT_ONCE);
}

/** The passes over these actions as they are now, counted in deliveries. */
async function passesOf(world: World, ids: readonly ActionId[]): Promise<Work> {
  const { actions } = world.app.app.database.collections;
  const filter = { _id: { $in: ids.map((id) => new ObjectId(id)) } };
  const reference = await referenceOf(world.app.app.database.collections, world.readers);
  const total = reference.readers.reduce(
    (sum, reader) => sum + feedFor(reference, reader).filter(({ action }) => ids.includes(action.id)).length,
    0,
  );
  return {
    total,
    async done() {
      const found = await actions.find(filter).project<{ fanOut: FanOutDocument }>({ fanOut: 1 }).toArray();
      return found.reduce((sum, { fanOut }) => sum + deliveredBy(fanOut), 0);
    },
  };
}

/** By the pass at the version of now. */
function deliveredBy({ state, version, delivered, checkpoint }: FanOutDocument): number {
  if (state === 'DONE') return delivered;
  return checkpoint?.version === version ? checkpoint.delivered : 0;
}
