import { expect, test } from 'vitest';
import { FanfareError } from '../../src/domain/errors.ts';
import { Bell, listOf } from '../support/bell.ts';
import { openParts, type Parts } from '../support/parts.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { repeats, SEED } from '../support/seed.ts';
import { type SeededRandom, seededRandom } from '../support/seeded-random.ts';

const READERS = Array.from({ length: 20 }, (_, n) => `r${String(n)}`);
const CHANGES = repeats(200);
const AT_ONCE = 4;

interface World {
  readonly parts: Parts;
  readonly random: SeededRandom;
  readonly actions: string[];
  /** Comments, with the action of each. */
  readonly comments: { readonly id: string; readonly actionId: string }[];
}

/** What may happen, by a reader and another one. */
const HAPPENINGS: readonly ((world: World, me: string, them: string) => Promise<unknown>)[] = [
  async ({ parts, actions }, actorId, them) =>
    actions.push((await parts.publish({ actorId, scope: 'PUBLIC', mentions: [them] })).action.id),
  async (world, me, them) => {
    const { services, session } = world.parts;
    const actionId = pick(world, world.actions);
    const comment = { actionId, kind: 'COMMENT', text: 'x', mentions: [them] };
    const { interaction } = await services.addInteraction(session(me), comment);
    world.comments.push({ id: interaction.id, actionId });
  },
  (world, me) => {
    const { id: parentId, actionId } = pick(world, world.comments);
    const reply = { actionId, kind: 'COMMENT', text: 'y', parentId };
    return world.parts.services.addInteraction(world.parts.session(me), reply);
  },
  (world, me) => {
    const like = { actionId: pick(world, world.actions), kind: pick(world, ['LIKE', 'RESHARE']) };
    return world.parts.services.addInteraction(world.parts.session(me), like);
  },
  (world, me) => {
    const own = { actionId: pick(world, world.actions), kind: 'LIKE' as const };
    return world.parts.services.removeInteraction(world.parts.session(me), { own });
  },
  ({ parts }, me, them) => parts.services.follow(parts.session(me), them, 0),
  ({ parts }, me, them) => parts.services.unfollow(parts.session(me), them, true),
  ({ parts }, me, memberId) => parts.services.addMute(parts.session(me), { memberId }, null),
  ({ parts }, me, memberId) => parts.services.removeMute(parts.session(me), { memberId }),
  ({ parts }, me, them) => parts.services.blockMember(parts.session(me), them),
  ({ parts }, me, them) => parts.services.unblockMember(parts.session(me), them),
  ({ parts }, me) => parts.services.markNotificationsSeen(parts.session(me), new Date()),
  ({ parts }, me) => parts.services.markNotificationsRead(parts.session(me), { upTo: new Date(), keys: [] }),
  (world) => {
    const { services, session } = world.parts;
    return services.hideInteraction(session('mona', 'moderator'), pick(world, world.comments).id, null);
  },
  (world) => {
    const { services, session } = world.parts;
    return services.hideAction(session('mona', 'moderator'), pick(world, world.actions), null);
  },
];

function pick<T>({ random }: World, all: readonly T[]): T {
  if (all.length === 0) throw new FanfareError('NOT_FOUND', 'There is none yet');
  return random.pick(all);
}

test('twenty bells that come and go show in the end what a fresh read does, whatever happened', async () => {
  await using parts = await openParts();
  const world: World = { parts, random: seededRandom(SEED), actions: [], comments: [] };
  for (const actorId of READERS)
    world.actions.push((await parts.publish({ actorId, scope: 'PUBLIC' })).action.id);
  await using worker = parts.worker();
  worker.start();
  const bells = await Promise.all(
    READERS.map(async (userId) => ({ userId, bell: await new Bell(parts, userId, null).load() })),
  );
  try {
    for (let done = 0; done < CHANGES; done += AT_ONCE) {
      await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          const [me, them] = [pick(world, READERS), pick(world, READERS)];
          try {
            await pick(world, HAPPENINGS)(world, me, them);
          } catch (error) {
            // Such as an action that is hidden by now, or of somebody with a block.
            if (!(error instanceof FanfareError)) throw error;
          }
        }),
      );
      await world.random.pick(bells).bell.reconnect();
    }
    await parts.idle();
    for (const { userId, bell } of bells)
      await expect
        .poll(async () => ({ userId, now: bell.shown, fresh: await listOf(parts, userId) }), {
          timeout: PATIENCE_MS,
        })
        .toSatisfy(({ now, fresh }) => JSON.stringify(now) === JSON.stringify(fresh));
  } finally {
    await Promise.all(bells.map(({ bell }) => bell[Symbol.asyncDispose]()));
  }
});
