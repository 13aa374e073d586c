import { expect, test } from 'vitest';
import { PATIENCE_MS } from '../support/patience.ts';
import { IS_DEEP, repeats, SEED } from '../support/seed.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { startValkeyCluster } from '../support/valkey-cluster.ts';
import { deedsIn } from './torture/deeds.ts';
import { eventually, isOfNoChange, phase, settle } from './torture/play.ts';
import { openWorld, type MortalRedis, type WorldSize } from './torture/world.ts';

const DEEDS = repeats(24);
const SIZE: WorldSize = IS_DEEP
  ? { apiProcesses: 3, workers: 2, readers: 60, clients: 200, wires: 20, actors: 36 }
  : { apiProcesses: 2, workers: 2, readers: 12, clients: 24, wires: 6, actors: 18 };
const PATIENCE = IS_DEEP ? 10 * 60_000 : PATIENCE_MS;

/** Three primaries, of which one dies with all it has and comes back empty. */
async function startMortalCluster(): Promise<MortalRedis> {
  const cluster = await startValkeyCluster();
  const [mortal] = cluster.nodes;
  if (mortal === undefined) throw new Error('The cluster has no nodes');
  return {
    url: cluster.url,
    kill: () => mortal.kill(),
    restart: async () => {
      await mortal.start();
      await cluster.whole();
    },
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}

test(
  'clients show exactly the feed when a primary of a Redis Cluster dies, and query again where necessary',
  async () => {
    const random = seededRandom(SEED);
    await using world = await openWorld(random, {
      ...{ model: 'items', size: SIZE, startRedis: startMortalCluster },
    });
    const { mirrors } = world;
    const journal: string[] = [];
    const deed = deedsIn(world, random, journal);
    await eventually(
      () => mirrors.every((mirror) => mirror.resyncs.length === 1),
      () => 'Not all clients are connected',
      PATIENCE,
    );
    const resyncs = (): string[] => mirrors.flatMap((mirror) => mirror.resyncs.filter(isOfNoChange));
    await phase(world, deed, random, { deeds: DEEDS, trouble: { redis: null } });
    await settle(world, journal, PATIENCE);
    const before = resyncs().length;
    await phase(world, deed, random, { deeds: DEEDS, trouble: { redis: [DEEDS / 4, DEEDS / 2] } });
    await settle(world, journal, PATIENCE);
    // Its readers had events that nobody has any more.
    expect(resyncs().length).toBeGreaterThan(before);
    expect([...new Set(resyncs())].filter((reason) => !REASONS.includes(reason))).toEqual([]);
  },
  60 * 60_000,
);

const REASONS = ['log-interrupted', 'log-lost', 'opened'];
