import type { Db } from 'mongodb';
import { openInProcess } from '../harness/in-process.ts';
import { withProfile } from '../harness/profile.ts';
import { judge, type Figure, type PartReport } from '../harness/report.ts';
import {
  alternate,
  fastest,
  ratioOf,
  seriesNamed,
  summaryOf,
  type Contender,
  type Series,
} from '../harness/rounds.ts';
import { timed } from '../harness/statistics.ts';
import { ratingInput } from '../world/actions.ts';
import { itemsCollection, newItems } from '../world/items.ts';
import { loadFollowers } from '../world/people.ts';
import { openRawWorld, type RawWorld } from '../world/raw.ts';
import { roundsOf, sized, type Part, type PartContext } from './part.ts';

const BATCHES = [500, 1_000, 2_500, 5_000, 10_000, 20_000];
const REF = 'site-followed';
const WHOLE = 'fan-out, publish → DONE';
const TOGETHER = 'side by side';
const PASS = 'fan-out, the pass alone';

/** Fan-out of a new action beside the plain driver, which inserts the same documents in its best way. */
export const fanOutPart: Part = { name: 'fan-out', run };

async function run(context: PartContext): Promise<PartReport> {
  const { environment, options, say, profileDir } = context;
  const followers = sized(options, { full: 20_000, short: 5_000, smoke: 300 });
  const rounds = roundsOf(options, { full: 9, short: 3, smoke: 1 });
  const warmUp = sized(options, { full: 2, short: 1, smoke: 0 });
  await using ours = await openRawWorld(environment, 'bench_fanout');
  const raw = environment.driver.db('bench_fanout_raw');
  await loadFollowers(ours.follows, REF, followers);
  await using fanfare = await openInProcess(environment, 'bench_fanout', { worker: true });
  const passes: number[] = [];
  let published = 0;
  const fanOut: Contender = {
    name: WHOLE,
    measure: async (round) => {
      const milliseconds = await timed(async () => {
        const id = await fanfare.publish(ratingInput(published++, [{ id: REF }]));
        const { delivered, seconds } = await fanfare.done(id);
        if (delivered !== followers)
          throw new Error(`Delivered ${String(delivered)} of ${String(followers)} items`);
        if (round >= 0) passes.push(seconds * 1_000);
      });
      await expectItems(ours, followers * published);
      return milliseconds;
    },
  };
  const batches = BATCHES.filter((size, index) => size <= followers || index === 0);
  say(`${String(followers)} followers, ${String(rounds)} rounds, batches of ${batches.join(', ')}`);
  const inserts: Contender[] = [];
  for (const size of batches) inserts.push(await rawInsert(raw, followers, size, 1));
  inserts.push(await rawInsert(raw, followers, 5_000, 4));
  const series = await withProfile(profileDir, 'fan-out', () =>
    alternate([fanOut, ...inserts], { rounds, warmUp }),
  );
  await raw.dropDatabase();
  return report(followers, [...series, { name: PASS, values: passes }]);
}

function report(followers: number, series: readonly Series[]): PartReport {
  const oneByOne = series.filter(({ name }) => name.startsWith('raw') && !name.includes(TOGETHER));
  const best = fastest(oneByOne);
  const rate = ({ name, values }: Series): Series => ({
    name,
    values: values.map((milliseconds) => followers / (milliseconds / 1_000)),
  });
  const rates = series.map(rate);
  const ratio = ratioOf(rate(seriesNamed(series, WHOLE)), rate(best));
  const figures: Figure[] = rates.map((entry) => ({
    name: entry.name,
    unit: 'items/s',
    summary: summaryOf(entry),
  }));
  const verdict = judge('fanOut', {
    name: `items/s of the fan-out / items/s of the best raw insert (${best.name})`,
    unit: '×',
    summary: ratio,
    note: `${String(followers)} followers; from the call of publishAction to DONE`,
  });
  return {
    title: 'Fan-out of a new action',
    about: [
      `A new action is delivered to ${String(followers)} followers by the real worker: from the call of publishAction to DONE.`,
      'The plain driver inserts the same documents into a collection with the same indexes, unordered, in batches of several sizes; documents are made before the clock starts. All collections grow alike.',
      'Side by side: four batches of the plain driver at once, for which there is no target.',
    ],
    figures,
    verdicts: [verdict],
    charts: [
      {
        kind: 'bars',
        name: 'fan-out',
        title: `Fan-out to ${String(followers)} followers`,
        unit: 'items/s',
        bars: figures.map(({ name, summary: { median, min, max } }) => ({
          label: name,
          value: median,
          min,
          max,
        })),
      },
    ],
    raw: { followers, milliseconds: Object.fromEntries(series.map(({ name, values }) => [name, values])) },
  };
}

/** Inserts the items of one action. The documents are made before the clock starts. */
async function rawInsert(db: Db, followers: number, batch: number, lanes: number): Promise<Contender> {
  const items = await itemsCollection(db, `items_${String(batch)}_${String(lanes)}`);
  return {
    name: `raw insertMany, batches of ${String(batch)}${lanes === 1 ? '' : `, ${String(lanes)} ${TOGETHER}`}`,
    measure: () => {
      const documents = newItems(followers);
      let next = 0;
      const lane = async (): Promise<void> => {
        while (next < documents.length) {
          const from = next;
          next += batch;
          await items.insertMany(documents.slice(from, from + batch), { ordered: false });
        }
      };
      return timed(() => Promise.all(Array.from({ length: lanes }, lane)));
    },
  };
}

async function expectItems(world: RawWorld, count: number): Promise<void> {
  const stored = await world.items.countDocuments({});
  if (stored !== count) throw new Error(`${String(stored)} items are stored instead of ${String(count)}`);
}
