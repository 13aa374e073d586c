import { expect, test } from 'vitest';
import { encodeNewsfeedItemId } from '../../src/graphql/global-id.ts';
import { LIST_CHANGES } from '../../src/realtime/live-log.ts';
import { clientOf } from '../support/client-watches.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { IS_DEEP, repeats, SEED } from '../support/seed.ts';
import { seededRandom, type SeededRandom } from '../support/seeded-random.ts';
import { deedsIn, type Deed } from './torture/deeds.ts';
import { wholeFeed, type Mirror } from '../support/mirror.ts';
import { HERALD, openWorld, type World, type WorldSize } from './torture/world.ts';

/**
 * A small world, and one outage of Redis, in a usual run; all of it in a deep one, or where seeds are given:
 * `FANFARE_TORTURE_SEEDS=1,2,3 FANFARE_TORTURE_DEEDS=600` runs these, with so many deeds in each phase.
 * `FANFARE_TORTURE_MODELS=items,capped` chooses how feeds are stored; without it `items` alone, since a run takes minutes.
 */
const IS_WHOLE = IS_DEEP || process.env['FANFARE_TORTURE_SEEDS'] !== undefined;
const SEEDS = (process.env['FANFARE_TORTURE_SEEDS'] ?? String(SEED)).split(',').map(Number);
const DEEDS = Number(process.env['FANFARE_TORTURE_DEEDS'] ?? repeats(24));
const MODELS = (process.env['FANFARE_TORTURE_MODELS'] ?? 'items').split(',');
const SIZE: WorldSize = IS_WHOLE
  ? { apiProcesses: 3, workers: 2, readers: 60, clients: 200, wires: 20, actors: 36 }
  : { apiProcesses: 2, workers: 2, readers: 12, clients: 40, wires: 8, actors: 18 };
const OUTAGES: readonly Trouble[] = [
  { redis: [DEEDS / 4, DEEDS / 2] },
  ...(IS_WHOLE ? [{ redis: null }, { redis: [DEEDS / 3, DEEDS / 3 + 8] as const }] : []),
];
const AT_ONCE = 4;
/** Hundreds of clients that read whole feeds again, all at once, take their time on a busy machine. */
const PATIENCE = IS_WHOLE ? 10 * 60_000 : PATIENCE_MS;

interface Trouble {
  /** After how many deeds Redis dies, and comes back. */
  readonly redis: readonly [number, number] | null;
}

/** Deeds one after the other, some at once, and troubles in between. */
async function phase(world: World, deed: Deed, random: SeededRandom, { redis }: Trouble): Promise<void> {
  let restarting: Promise<void> | null = null;
  for (let done = 0; done < DEEDS; done += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, deed));
    const isNow = (moment: number): boolean => done <= moment && moment < done + AT_ONCE;
    if (redis !== null && isNow(redis[0])) await world.redis.kill();
    if (redis !== null && isNow(redis[1])) restarting = world.redis.restart();
    if (random.next() < 0.3) {
      const wire = random.pick(world.wires);
      wire.cut();
      wire.heal();
    }
    if (random.next() < 0.02) world.replace('api', random.pick(['SIGKILL', 'SIGKILL', 'SIGTERM']));
    if (random.next() < 0.03) world.replace('worker', random.pick(['SIGKILL', 'SIGKILL', 'SIGTERM']));
  }
  await restarting;
  await world.isWhole();
}

async function eventually(isSo: () => boolean | Promise<boolean>, what: () => string): Promise<void> {
  const deadline = Date.now() + PATIENCE;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`It did not come to be so: ${what()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Waits until everything has been delivered and told, and expects every client to show what the query gives. */
async function settle(world: World, journal: readonly string[]): Promise<void> {
  const { app, mirrors, readers } = world;
  await app.idle();
  const { action } = await app.services.publishAction(app.identity('importer', 'service'), {
    actorId: HERALD,
    descriptor: { custom: { verb: 'called', objectType: 'end', objectId: 'end' } },
  });
  await app.idle();
  const missing = (): Mirror[] =>
    mirrors.filter(({ reader, shown }) => !shown.has(encodeNewsfeedItemId(reader, action.id)));
  await eventually(
    () => missing().length === 0,
    () =>
      `Clients were not told of the last action; their resyncs so far: ${missing()
        .map(({ resyncs }) => resyncs.length)
        .join(' ')}`,
  );
  let differences: string[] = [];
  await eventually(
    async () => {
      differences = [];
      for (const reader of readers) {
        const client = await clientOf({ token: app.token, url: world.apiUrl() }, reader);
        const [whole, unread] = [await wholeFeed(client), await wholeFeed(client, { unreadOnly: true })];
        for (const mirror of mirrors.filter((one) => one.reader === reader)) {
          const feed = mirror.filter === undefined ? whole : unread;
          const ids = new Set([...feed.shown.keys(), ...mirror.shown.keys()]);
          for (const id of ids)
            if (mirror.shown.get(id) !== feed.shown.get(id))
              differences.push(
                [
                  `${reader} sees ${actionOf(id)} at ${String(mirror.shown.get(id))}, not ${String(feed.shown.get(id))}`,
                  ...journal.filter(
                    (line) =>
                      line.includes(actionOf(id)) || (line.includes(`follow`) && line.includes(`${reader} `)),
                  ),
                ].join('\n  '),
              );
          if (mirror.unread !== undefined && mirror.unread !== feed.unread.count)
            differences.push(`${reader}: unread ${String(mirror.unread)}, not ${String(feed.unread.count)}`);
        }
      }
      return differences.length === 0;
    },
    () => differences.slice(0, 10).join('\n'),
  );
  expect(mirrors.flatMap(({ faults }) => faults)).toEqual([]);
}

/** Not one by which the reader changed the list. */
function isOfNoChange(reason: string): boolean {
  return !(LIST_CHANGES as readonly string[]).includes(reason);
}

function isRebuilt(reader: string, journal: readonly string[]): boolean {
  return journal.some(
    (line) => line.startsWith(`move ${reader} `) || line.endsWith(` by ${reader} to a team`),
  );
}

function actionOf(itemId: string): string {
  return Buffer.from(itemId, 'base64').toString().slice(-24);
}

test.each(SEEDS.flatMap((seed) => MODELS.map((model) => ({ seed, model }))))(
  'clients show exactly the feed, whatever died, seed $seed, feeds stored by $model',
  async ({ seed, model }) => {
    const random = seededRandom(seed);
    await using world = await openWorld(random, model, SIZE);
    const { mirrors } = world;
    const journal: string[] = [];
    const deed = deedsIn(world, random, journal);
    const resyncs = (): string[] => [...new Set(mirrors.flatMap((mirror) => mirror.resyncs))].sort();
    await eventually(
      () => mirrors.every((mirror) => mirror.resyncs.length === 1),
      () => 'Not all clients are connected',
    );
    await phase(world, deed, random, { redis: null });
    await settle(world, journal);
    // Nobody was told to query the feed again but by the reader's own changes: events made up for what clients missed.
    const unbroken = mirrors.filter(({ reader }) => !world.hasEndedWorker() || !isRebuilt(reader, journal));
    if (!world.hadLiveLogTrouble())
      expect(unbroken.flatMap((mirror) => mirror.resyncs.filter(isOfNoChange))).toEqual(
        unbroken.map(() => 'opened'),
      );
    for (const trouble of OUTAGES) {
      const before = mirrors.map((mirror) => mirror.resyncs.length);
      await phase(world, deed, random, trouble);
      await settle(world, journal);
      if (trouble.redis !== null)
        expect(
          mirrors.filter((mirror, n) => mirror.resyncs.slice(before[n]).filter(isOfNoChange).length === 0),
        ).toEqual([]);
    }
    const reasons = ['log-interrupted', 'log-lost', 'opened'];
    expect(resyncs().filter((reason) => isOfNoChange(reason) && !reasons.includes(reason))).toEqual([]);
    const told = mirrors.reduce((sum, mirror) => sum + mirror.eventCount, 0);
    console.log(`Seed ${String(seed)}: ${String(told)} events told to ${String(mirrors.length)} clients`);
  },
  60 * 60_000,
);
