import { expect, test } from 'vitest';
import { PATIENCE_MS } from '../support/patience.ts';
import { IS_DEEP, repeats, SEED } from '../support/seed.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { deedsIn } from './torture/deeds.ts';
import { eventually, isOfNoChange, phase, settle, type Trouble } from './torture/play.ts';
import { openWorld, type WorldSize } from './torture/world.ts';

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
/** Hundreds of clients that read whole feeds again, all at once, take their time on a busy machine. */
const PATIENCE = IS_WHOLE ? 10 * 60_000 : PATIENCE_MS;

function isRebuilt(reader: string, journal: readonly string[]): boolean {
  return journal.some(
    (line) => line.startsWith(`move ${reader} `) || line.endsWith(` by ${reader} to a team`),
  );
}

test.each(SEEDS.flatMap((seed) => MODELS.map((model) => ({ seed, model }))))(
  'clients show exactly the feed, whatever process died, seed $seed, feeds stored by $model',
  async ({ seed, model }) => {
    const random = seededRandom(seed);
    await using world = await openWorld(random, { model, size: SIZE });
    const { mirrors } = world;
    const journal: string[] = [];
    const deed = deedsIn(world, random, journal);
    const resyncs = (): string[] => [...new Set(mirrors.flatMap((mirror) => mirror.resyncs))].sort();
    await eventually(
      () => mirrors.every((mirror) => mirror.resyncs.length === 1),
      () => 'Not all clients are connected',
      PATIENCE,
    );
    await phase(world, deed, random, { deeds: DEEDS, trouble: { redis: null } });
    await settle(world, journal, PATIENCE);
    // Nobody was told to query the feed again but by the reader's own changes: events made up for what clients missed.
    const unbroken = mirrors.filter(({ reader }) => !world.hasEndedWorker() || !isRebuilt(reader, journal));
    if (!world.hadLiveLogTrouble())
      expect(unbroken.flatMap((mirror) => mirror.resyncs.filter(isOfNoChange))).toEqual(
        unbroken.map(() => 'opened'),
      );
    for (const trouble of OUTAGES) {
      const before = mirrors.map((mirror) => mirror.resyncs.length);
      await phase(world, deed, random, { deeds: DEEDS, trouble });
      await settle(world, journal, PATIENCE);
      if (trouble.redis !== null)
        expect(
          mirrors.filter((mirror, n) => mirror.resyncs.slice(before[n]).filter(isOfNoChange).length === 0),
        ).toEqual([]);
    }
    const reasons = ['log-interrupted', 'log-lost', 'opened'];
    expect(resyncs().filter((reason) => isOfNoChange(reason) && !reasons.includes(reason))).toEqual([]);
    const notified = mirrors.reduce((sum, mirror) => sum + mirror.eventCount, 0);
    console.log(`Seed ${String(seed)}: ${String(notified)} events told to ${String(mirrors.length)} clients`);
  },
  60 * 60_000,
);
