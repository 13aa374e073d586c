import { expect, test } from 'vitest';
import type { Engagement } from '../../../src/domain/action.ts';
import { addInteraction } from '../../../src/features/interactions/add-interaction.ts';
import { removeInteraction } from '../../../src/features/interactions/remove-interaction.ts';
import { settleAbandonedInteractions } from '../../../src/features/upkeep/jobs/upkeep.ts';
import { hold } from '../../support/held.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { SEED } from '../../support/seed.ts';
import { seededRandom } from '../../support/seeded-random.ts';

/** Later than any call of the test is abandoned. */
const MUCH_LATER_MS = 3_600_000;

async function countsOf({ core }: Parts, id: string): Promise<Engagement | undefined> {
  return (await core.actions.findByIds([id]))[0]?.engagement;
}

const likesOf = async (parts: Parts, id: string): Promise<number | undefined> =>
  (await countsOf(parts, id))?.likes;

const like = ({ services, session }: Parts, userId: string, actionId: string) =>
  services.addInteraction(session(userId), { actionId, kind: 'LIKE' });

/** An action that needs a pass, with likes of these. */
async function liked(parts: Parts, userIds: readonly string[]): Promise<string> {
  const { action } = await parts.publish({ scope: 'PUBLIC' });
  await parts.fanOut();
  for (const userId of userIds) await like(parts, userId, action.id);
  return action.id;
}

/** Stops a call before it writes to the action. Its interaction is written already. */
function beforeTheMark({ core }: Parts) {
  const held = hold();
  const engagement: typeof core.engagement = {
    ...core.engagement,
    async markInteraction(...args) {
      await held.wait();
      return core.engagement.markInteraction(...args);
    },
    countInteraction: () => Promise.resolve(null),
  };
  return { held, core: { ...core, engagement } };
}

/**
 * Runs a pass, and in it something between the read of the interactions and the write of the counts. Returns the likes that
 * are counted when it has written them.
 */
async function passWith(parts: Parts, id: string, between: () => Promise<unknown>): Promise<number> {
  const { interactions, fanOuts } = parts.core;
  await fanOuts.requestPass(id, new Date());
  return new Promise((resolve, reject) => {
    const worker = parts.worker(
      {},
      {
        interactions: {
          ...interactions,
          async summary(actionId) {
            const summary = await interactions.summary(actionId);
            await between();
            return summary;
          },
        },
        fanOuts: {
          ...fanOuts,
          async finish(passes) {
            const likes = await likesOf(parts, id);
            worker.stop().then(() => resolve(likes ?? 0), reject);
            return fanOuts.finish(passes);
          },
        },
      },
    );
    worker.start();
  });
}

test('a pass never puts counts back to what they were before likes that came in during it', async () => {
  await using parts = await openParts();
  const id = await liked(parts, ['ann']);
  // On its way: the pass finds it, and the action does not count it yet.
  const { held, core } = beforeTheMark(parts);
  const onItsWay = addInteraction(core, parts.session('bob'), { actionId: id, kind: 'LIKE' });
  await held.isReached;
  const after = await passWith(parts, id, async () => {
    for (const userId of ['cid', 'dan', 'eve']) await like(parts, userId, id);
  });
  expect(after).toBe(4);
  held.letGo();
  expect((await onItsWay).action.engagement.likes).toBe(5);
  await parts.fanOut();
  expect(await likesOf(parts, id)).toBe(5);
});

test('what a pass has found removed is not taken off a second time by the call that removed it', async () => {
  await using parts = await openParts();
  const id = await liked(parts, ['ann', 'bob', 'cid']);
  const { held, core } = beforeTheMark(parts);
  const onItsWay = removeInteraction(core, parts.session('bob'), { own: { actionId: id, kind: 'LIKE' } });
  await held.isReached;
  expect(await passWith(parts, id, () => Promise.resolve())).toBe(3);
  held.letGo();
  expect((await onItsWay).action.engagement.likes).toBe(2);
  await parts.fanOut();
  expect(await likesOf(parts, id)).toBe(2);
});

test('a repeated call recounts, and keeps what others have counted since it read', async () => {
  await using parts = await openParts();
  const id = await liked(parts, ['ann']);
  const { held: first, core: cut } = beforeTheMark(parts);
  const unmarked = addInteraction(cut, parts.session('bob'), { actionId: id, kind: 'LIKE' });
  await first.isReached;
  const { held, core } = beforeTheMark(parts);
  const repeated = addInteraction(core, parts.session('bob'), { actionId: id, kind: 'LIKE' });
  await held.isReached;
  for (const userId of ['cid', 'dan', 'eve']) await like(parts, userId, id);
  held.letGo();
  expect((await repeated).action.engagement.likes).toBeGreaterThanOrEqual(4);
  first.letGo();
  await unmarked;
  await parts.fanOut();
  expect(await likesOf(parts, id)).toBe(5);
});

test('upkeep that completes a cut off call keeps what others have counted since it read', async () => {
  await using parts = await openParts();
  const id = await liked(parts, ['ann']);
  const { core: cut, held: never } = beforeTheMark(parts);
  const unmarked = addInteraction(cut, parts.session('bob'), { actionId: id, kind: 'LIKE' });
  await never.isReached;
  const { held, core } = beforeTheMark(parts);
  const mended = settleAbandonedInteractions(core, new Date(Date.now() + MUCH_LATER_MS));
  await held.isReached;
  for (const userId of ['cid', 'dan', 'eve']) await like(parts, userId, id);
  held.letGo();
  await mended;
  expect(await likesOf(parts, id)).toBeGreaterThanOrEqual(4);
  never.letGo();
  await unmarked;
  await parts.fanOut();
  expect(await likesOf(parts, id)).toBe(5);
});

test('the newest time stays that of a like that came in while an older one was taken back', async () => {
  await using parts = await openParts();
  const id = await liked(parts, ['ann', 'bob']);
  const { held, core } = beforeTheMark(parts);
  const removed = removeInteraction(core, parts.session('bob'), { own: { actionId: id, kind: 'LIKE' } });
  await held.isReached;
  const { interaction } = await like(parts, 'cid', id);
  held.letGo();
  await removed;
  expect((await countsOf(parts, id))?.lastInteraction).toEqual(interaction.at);
});

test('all own reactions taken back at once are off the counts when the call returns', async () => {
  await using parts = await openParts();
  const { services, session } = parts;
  const id = await liked(parts, []);
  for (const userId of ['ann', 'bob'])
    for (const reaction of ['👍', '🎉'])
      await services.addInteraction(session(userId), { actionId: id, kind: 'REACTION', reaction });
  const { action } = await services.removeInteraction(session('ann'), {
    own: { actionId: id, kind: 'REACTION' },
  });
  expect(action.engagement.reactions.map(({ count }) => count)).toEqual([1, 1]);
});

test('each read counts at least what was acknowledged before it began, and nothing that was taken back', async () => {
  await using parts = await openParts();
  const random = seededRandom(SEED);
  const id = await liked(parts, []);
  await using worker = parts.worker({}, { ownWorker: parts.core.ownWorker });
  worker.start();
  const MEMBERS = 20;
  const ROUNDS = 15;
  /** Given and acknowledged, and not begun to be taken back. */
  let atLeast = 0;
  const failures: string[] = [];
  const member = async (n: number): Promise<void> => {
    const session = (): ReturnType<Parts['session']> => parts.session(`m${String(n)}`);
    let own: string | null = null;
    for (let round = 0; round < ROUNDS; round += 1) {
      if (own === null) {
        const { interaction } = await parts.services.addInteraction(session(), {
          ...{ actionId: id, kind: 'COMMENT', text: 'Hello' },
        });
        own = interaction.id;
        atLeast += 1;
      } else if (random.next() < 0.3) {
        atLeast -= 1;
        await parts.services.removeInteraction(session(), { id: own });
        own = null;
      } else own = null;
      const known = atLeast;
      const comments = (await countsOf(parts, id))?.comments ?? 0;
      // Those that are taken back meanwhile are not counted any more.
      const most = Math.min(known, atLeast);
      if (comments < most) failures.push(`${String(comments)} of ${String(most)}`);
    }
  };
  await Promise.all(Array.from({ length: MEMBERS }, (_, n) => member(n)));
  await parts.idle();
  expect(failures).toEqual([]);
  const summary = await parts.core.interactions.summary(id);
  expect(await countsOf(parts, id)).toEqual(summary?.engagement);
});
