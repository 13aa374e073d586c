import { itemId } from '../../src/feeds/models/items/repository.ts';
import { ObjectId } from 'mongodb';
import { Closer } from '../../src/lib/closer.ts';
import { openInProcess, type InProcess } from '../harness/in-process.ts';
import { judge, type Figure, type PartReport } from '../harness/report.ts';
import {
  alternate,
  ratioOf,
  seriesNamed,
  summaryOf,
  type Contender,
  type Series,
} from '../harness/rounds.ts';
import { now, quantile, timed } from '../harness/statistics.ts';
import { ratingInput } from '../world/actions.ts';
import { loadActions, loadFeed } from '../world/feed.ts';
import { loadFollowers, readerId } from '../world/people.ts';
import { informPlanner, load, openRawWorld, type RawWorld } from '../world/raw.ts';
import { rawPage, servicePage } from '../world/pages.ts';
import { roundsOf, sized, type PartContext } from './part.ts';

export type Growth = Pick<PartReport, 'figures' | 'verdicts' | 'charts' | 'raw'>;

const READER = 'reader-of-the-curve';
const FIRST = 25;
const ENTRIES = 500;
/** After a load the engine tidies up on its own account; most of that is over by then. */
const SETTLE_MS = 12_000;

/** Pages beside more and more items of others. */
export async function itemsGrowth(context: PartContext): Promise<Growth> {
  const { environment, options, say } = context;
  const sizes = sized(options, {
    full: [1_000, 10_000, 100_000, 1_000_000],
    short: [1_000, 10_000],
    smoke: [1_000, 2_000],
  });
  await using closer = new Closer();
  const pages = sized(options, { full: 100, short: 50, smoke: 5 });
  const contenders: Contender[] = [];
  for (const size of sizes) {
    const database = `bench_growth_${String(size)}`;
    const world = closer.own(await openRawWorld(environment, database));
    const fanfare = closer.own(await openInProcess(environment, database, { worker: false }));
    const actions = await loadActions(world, fanfare, ENTRIES);
    await loadFeed(world, READER, actions);
    await loadOthers(
      world,
      size - ENTRIES,
      actions.map((action) => action._id),
    );
    await informPlanner(world);
    say(`${String(size)} items`);
    contenders.push(...pageContenders(`${size.toLocaleString('en')} items`, world, fanfare, READER, pages));
  }
  await settle(context, contenders);
  const series = await alternate(contenders, roundsAndWarmUp(context));
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  const of = (size: number): Series =>
    seriesNamed(series, nameOf(`${size.toLocaleString('en')} items`, 'service'));
  return {
    figures: figuresOf(series, 'ms'),
    verdicts: [
      judge('growth', {
        name: `page at ${most.toLocaleString('en')} / at ${least.toLocaleString('en')} items`,
        unit: '×',
        summary: ratioOf(of(most), of(least)),
      }),
    ],
    charts: [
      curve('growth-items', 'Page p50 by items in the collection', 'items', 'ms', sizes, series, 'items'),
    ],
    raw: { sizes, series },
  };
}

/** Pages of readers who follow more and more. */
export async function followsGrowth(context: PartContext): Promise<Growth> {
  const { environment, options, say } = context;
  const sizes = sized(options, { full: [10, 100, 1_000, 5_000], short: [10, 1_000], smoke: [10, 20] });
  const pages = sized(options, { full: 100, short: 50, smoke: 5 });
  const database = 'bench_growth_follows';
  await using world = await openRawWorld(environment, database);
  await using fanfare = await openInProcess(environment, database, { worker: false });
  const actions = await loadActions(world, fanfare, ENTRIES);
  const contenders: Contender[] = [];
  const since = new Date(Date.now() - 365 * 86_400_000);
  for (const size of sizes) {
    const reader = `reader-of-${String(size)}`;
    await loadFeed(world, reader, actions);
    await load(world.follows, size, (index) => ({
      _id: new ObjectId(),
      followerId: reader,
      refId: index === 0 ? 'site-read' : `site-${String(index)}`,
      active: true,
      spans: [{ since }],
    }));
    contenders.push(...pageContenders(`${size.toLocaleString('en')} follows`, world, fanfare, reader, pages));
  }
  await informPlanner(world);
  say(`readers with ${sizes.join(', ')} follows`);
  await settle(context, contenders);
  const series = await alternate(contenders, roundsAndWarmUp(context));
  return {
    figures: figuresOf(series, 'ms'),
    verdicts: [],
    charts: [
      curve('growth-follows', 'Page p50 by follows of the reader', 'follows', 'ms', sizes, series, 'follows'),
    ],
    raw: { sizes, series },
  };
}

/** Fan-outs to more and more followers. */
export async function fanOutGrowth(context: PartContext): Promise<Growth> {
  const { environment, options, say } = context;
  const sizes = sized(options, {
    full: [100, 1_000, 10_000, 100_000],
    short: [100, 1_000, 10_000],
    smoke: [50, 100],
  });
  const database = 'bench_growth_fanout';
  await using world = await openRawWorld(environment, database);
  for (const size of sizes) await loadFollowers(world.follows, `site-of-${String(size)}`, size);
  await informPlanner(world);
  await using fanfare = await openInProcess(environment, database, { worker: true });
  say(`fan-outs to ${sizes.join(', ')} followers`);
  let published = 0;
  const series = await alternate(
    sizes.map((size) => ({
      name: nameOf(`${size.toLocaleString('en')} followers`, 'fan-out'),
      measure: async () => {
        const milliseconds = await timed(async () => {
          const id = await fanfare.publish(ratingInput(published++, [{ id: `site-of-${String(size)}` }]));
          const { delivered } = await fanfare.done(id);
          if (delivered !== size) throw new Error(`Delivered ${String(delivered)} of ${String(size)} items`);
        });
        return (milliseconds * 1_000) / size;
      },
    })),
    // The largest takes long, and an average over so many followers is steady in itself.
    roundsAndWarmUp(context, { full: 3, short: 2, smoke: 1 }),
  );
  return {
    figures: figuresOf(series, 'µs per follower'),
    verdicts: [],
    charts: [curve('growth-fan-out', 'Fan-out per follower', 'followers', 'µs', sizes, series, 'followers')],
    raw: { sizes, series },
  };
}

function roundsAndWarmUp(
  { options }: PartContext,
  rounds = { full: 5, short: 2, smoke: 1 },
): { readonly rounds: number; readonly warmUp: number } {
  return {
    rounds: roundsOf(options, rounds),
    warmUp: sized(options, { full: 1, short: 1, smoke: 0 }),
  };
}

function pageContenders(
  at: string,
  world: RawWorld,
  fanfare: InProcess,
  reader: string,
  pages: number,
): readonly Contender[] {
  const p50 = (what: string, page: () => Promise<unknown>): Contender => ({
    name: nameOf(at, what),
    measure: async () => {
      const times: number[] = [];
      for (let index = 0; index < pages; index++) times.push(await timed(page));
      return quantile(times, 0.5);
    },
  });
  return [
    p50('service', () => servicePage(fanfare, reader, FIRST)),
    p50('two raw queries', () => rawPage(world.db, reader, FIRST)),
  ];
}

/** Reads until the engine has had time to tidy up what was loaded. */
async function settle({ options }: PartContext, contenders: readonly Contender[]): Promise<void> {
  const until = now() + (options.size === 'smoke' ? 0 : SETTLE_MS);
  while (now() < until) for (const contender of contenders) await contender.measure(-1);
}

/** Items of other readers that refer to the same actions. */
function loadOthers(world: RawWorld, count: number, actionIds: readonly ObjectId[]): Promise<void> {
  const relevancy = new Date();
  return load(world.items, count, (index) => {
    const actionId = actionIds[index % actionIds.length];
    if (actionId === undefined) throw new Error('There are no actions');
    const userId = readerId(Math.floor(index / actionIds.length));
    return {
      _id: itemId(userId, actionId),
      userId,
      actionId,
      relevancy,
      reasons: ['FOLLOW' as const],
    };
  });
}

function nameOf(at: string, what: string): string {
  return `${what}, ${at}`;
}

function figuresOf(series: readonly Series[], unit: string): Figure[] {
  return series.map((entry) => ({ name: entry.name, unit, summary: summaryOf(entry) }));
}

function curve(
  name: string,
  title: string,
  xLabel: string,
  unit: string,
  sizes: readonly number[],
  series: readonly Series[],
  noun: string,
): Growth['charts'][number] {
  const kinds = [...new Set(series.map((entry) => entry.name.split(', ')[0] ?? ''))];
  return {
    kind: 'curves',
    name,
    title,
    xLabel,
    unit,
    curves: kinds.map((kind) => ({
      label: kind,
      points: sizes.map((size) => ({
        x: size,
        y: summaryOf(seriesNamed(series, nameOf(`${size.toLocaleString('en')} ${noun}`, kind))).median,
      })),
    })),
  };
}
