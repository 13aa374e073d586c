import { expect, test } from 'vitest';
import { FEED_MODEL_NAMES } from '../../src/app/feed-models.ts';
import { IS_DEEP, repeats, SEED } from '../support/seed.ts';
import { seededRandom, type SeededRandom } from '../support/seeded-random.ts';
import { expectFeeds } from './kills/expect-feeds.ts';
import { publish, WORKS, type Work } from './kills/work.ts';
import { openWorld, type World } from './kills/world.ts';

/** All that store something: of a feed that is made from the actions nothing can be left half done. */
const MODELS = FEED_MODEL_NAMES.filter((model) => model !== 'pull');
const KINDS = Object.keys(WORKS);
/** In a usual run three models have a worker killed. `FANFARE_KILLS=50` kills so many, by turns over the models. */
const KILLS = Number(process.env['FANFARE_KILLS'] ?? (IS_DEEP ? repeats(1) * MODELS.length : 3));
/** Work may be over before the kill comes; then it was none, and there is another try. */
const TRIES = 20;
const ACTIONS_BEFORE = 16;

/** Waits until the work has come to a point, and kills the worker. Whether it was in the midst of this work then. */
async function killAt(world: World, work: Work, point: number): Promise<boolean> {
  while ((await work.done()) < point && (await world.isBusy()))
    if (world.hasEnded()) throw new Error('The worker ended on its own');
  await world.kill();
  return (await world.begun()) > 0 && (await work.done()) < work.total;
}

/**
 * One kill in the midst of work of this kind; where a worker is always done with it before the kill, of the next kind.
 * Tells where it was.
 */
async function killIn(world: World, first: number, random: SeededRandom): Promise<string> {
  for (let tries = 0; tries < TRIES * KINDS.length; tries += 1) {
    const kind = KINDS[(first + Math.floor(tries / TRIES)) % KINDS.length] ?? '';
    const work = await WORKS[kind]?.(world, random);
    if (work === undefined) throw new Error(`There is no work "${kind}"`);
    const point = 1 + random.below(work.total - 1);
    const isKill = await killAt(world, work, point);
    world.replace();
    if (isKill) return `${kind} ${String(point)}/${String(work.total)}`;
    await world.idle();
  }
  throw new Error('The worker was done with everything before every kill');
}

for (const [n, model] of MODELS.entries()) {
  const turn = (n + SEED) % MODELS.length;
  const kills = Math.floor(KILLS / MODELS.length) + (turn < KILLS % MODELS.length ? 1 : 0);
  test.runIf(kills > 0)(
    `feeds stored by ${model} match the definition although workers are killed, ${String(kills)} times, seed ${String(SEED)}`,
    async () => {
      const random = seededRandom(SEED + n);
      await using world = await openWorld(model, random);
      await publish(world, random, ACTIONS_BEFORE);
      await world.idle();
      const points: string[] = [];
      let compared = 0;
      for (let kill = 0; kill < kills; kill += 1) {
        points.push(await killIn(world, SEED + n + kill, random));
        // Some are killed while what the one before left is still being made good.
        if (kill < kills - 1 && random.next() < 0.5) continue;
        await world.idle();
        compared += await expectFeeds(world, 4 + random.below(20));
      }
      expect(points).toHaveLength(kills);
      console.log(
        `${model}, cap ${String(world.cap)}: killed at ${points.join('; ')}. ${String(compared)} entries compared.`,
      );
    },
    60 * 60_000,
  );
}
