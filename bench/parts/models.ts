import { Closer } from '../../src/lib/closer.ts';
import { FEED_MODEL_NAMES } from '../../src/packages/feed-models.ts';
import { withProfile } from '../harness/profile.ts';
import type { PartReport } from '../harness/report.ts';
import { modelsLoad, type ModelsLoad, type ModelsSizes } from '../world/models-load.ts';
import { openModelWorld, publishAll, type ModelWorld } from '../world/models.ts';
import { informPlanner } from '../world/raw.ts';
import { readTrace } from '../world/trace.ts';
import { measureChanges } from './models-changes.ts';
import { measureDeliveries } from './models-deliveries.ts';
import { measurePages, type Places } from './models-pages.ts';
import { modelsReport } from './models-report.ts';
import { measureStored, type Stored } from './models-storage.ts';
import { roundsOf, sized, type Part, type PartContext } from './part.ts';

/** Every feed model beside the others: deliveries, pages, storage, bumps and removals. */
export const modelsPart: Part = { name: 'models', run };

/** Everybody in the trace, and the default of `POLL_INTERVAL`. */
const DEFAULTS = { people: Infinity, poll: '1s' } as const;

async function run(context: PartContext): Promise<PartReport> {
  const { environment, options, say, profileDir } = context;
  const sizes = sized<ModelsSizes>(options, {
    full: { ...DEFAULTS, actions: 120, extra: 700, readers: 5, cap: 600, holders: 2_000 },
    short: { ...DEFAULTS, actions: 60, extra: 240, readers: 3, cap: 240, holders: 500 },
    // Looks for work so often that bumps wait for nothing.
    smoke: { actions: 8, extra: 30, readers: 1, cap: 25, holders: 50, people: 100, poll: '50ms' },
  });
  const places = sized<Places>(options, {
    full: { first: 25, starts: { first: 0, deep: 475, beyond: 675 } },
    short: { first: 10, starts: { first: 0, deep: 190, beyond: 260 } },
    smoke: { first: 1, starts: { first: 0, deep: 19, beyond: 29 } },
  });
  const trace = await readTrace(options.traceDir, say);
  const load = modelsLoad(trace, sizes);
  await using closer = new Closer();
  const worlds = await openAll(context, closer, load);
  say(`${String(worlds.length)} models, ${String(load.actions.length)} actions of the ${trace.name}`);
  for (const { fanfare } of worlds) await publishAll(fanfare, load.extra);
  const deliveries = await withProfile(profileDir, 'models-deliveries', () =>
    measureDeliveries(worlds, load.actions, sized(options, { full: 6, short: 5, smoke: 2 })),
  );
  const stored = new Map<string, Stored>();
  for (const world of worlds) stored.set(world.model, await measureStored(environment, world));
  for (const world of worlds) await rebuild(world, load.readers);
  for (const { world } of worlds) await informPlanner(world);
  say('pages');
  const pages = await withProfile(profileDir, 'models-pages', () =>
    measurePages(worlds, load.readers, places, {
      pages: sized(options, { full: 60, short: 40, smoke: 3 }),
      rounds: roundsOf(options, { full: 5, short: 2, smoke: 1 }),
      warmUp: sized(options, { full: 1, short: 1, smoke: 0 }),
    }),
  );
  say('bumps and removals');
  const changes = await measureChanges(worlds, sizes.holders, {
    rounds: roundsOf(options, { full: 3, short: 1, smoke: 1 }),
    warmUp: sized(options, { full: 1, short: 0, smoke: 0 }),
  });
  return modelsReport({ trace: trace.name, sizes, places, ...deliveries, stored, pages, changes });
}

/** All at once, which takes half the time. */
async function openAll(
  { environment }: PartContext,
  closer: Closer,
  load: ModelsLoad,
): Promise<readonly ModelWorld[]> {
  const opened = await Promise.allSettled(
    FEED_MODEL_NAMES.map(async (model) => closer.own(await openModelWorld(environment, model, load))),
  );
  return opened.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
}

/** Rebuilds the measured feeds, as for readers who come back: what is stored then ends exactly at the cap. */
async function rebuild({ fanfare }: ModelWorld, readers: readonly string[]): Promise<void> {
  const admin = fanfare.identity('admin', 'admin');
  for (const reader of readers) await fanfare.app.services.rebuildFeed(admin, reader);
  await fanfare.app.idle();
}
