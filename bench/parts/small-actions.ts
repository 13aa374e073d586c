import { ObjectId, type WithId } from 'mongodb';
import type { ActionDocument } from '../../src/storage/documents/documents.ts';
import { Closer } from '../../src/lib/closer.ts';
import { itemId } from '../../src/feed/models/items.ts';
import { openInProcess } from '../harness/in-process.ts';
import { roundsOf, sized, type Part, type PartContext } from '../harness/part.ts';
import { atLeast, type PartReport } from '../harness/report.ts';
import {
  alternate,
  figureOf,
  ratioFigure,
  seriesNamed,
  type Measure,
  type Series,
} from '../harness/rounds.ts';
import { now, untilDone } from '../harness/statistics.ts';
import { ratingInput } from '../world/actions.ts';
import { informPlanner, load, openRawWorld, type RawWorld } from '../world/raw.ts';

const DATABASE = 'bench_small';
/** Actions of one batch of the plain driver. */
const AT_ONCE = 64;
const READERS = 500;
const WAITING = { 'fanOut.state': 'PENDING', 'fanOut.leaseUntil': { $exists: true } } as const;

/** Actions with one reader each, delivered by one worker: with few and with many waiting, beside the plain driver. */
export const smallActionsPart: Part = { name: 'small-actions', run };

async function run(context: PartContext): Promise<PartReport> {
  const { environment, options } = context;
  const [few, many] = sized(options, { full: [1_000, 100_000], short: [1_000, 10_000], smoke: [100, 200] });
  await using closer = new Closer();
  const template = await publishOne(context, DATABASE);
  const measures: Measure[] = [];
  // With few and with many turn about: how fast the machine is does not stay the same.
  for (const waiting of [few, many] as const) {
    const database = `${DATABASE}_${String(waiting)}`;
    const ours = closer.own(await openRawWorld(environment, database));
    const rawWorld = closer.own(await openRawWorld(environment, `${database}_raw`));
    measures.push(
      async () => {
        await fill(ours, template, waiting);
        return { [fanfareAt(waiting)]: await delivered(context, database, few) };
      },
      async () => {
        await fill(rawWorld, template, waiting);
        return { [leastAt(waiting)]: await least(rawWorld, few) };
      },
    );
  }
  const series = await alternate(measures, roundsOf(options, { full: [5, 1], short: [3, 1], smoke: [1, 0] }));
  const [atFew, atMany] = [seriesNamed(series, fanfareAt(few)), seriesNamed(series, fanfareAt(many))];
  const ratio = (a: Series, b: Series) => ratioFigure(`${a.name} / ${b.name}`, a, b);
  return {
    title: 'Many small actions',
    about: [
      `Actions with one reader each wait for one worker process; measured is how many it delivers a second, from the first to the ${few.toLocaleString('en')}th. The plain driver does the least that delivers the same documents with the same indexes, in batches of ${String(AT_ONCE)}: a read, one updateMany to claim them, insertMany of the items, a bulk write that ends them.`,
    ],
    figures: [
      ...[leastAt(few), leastAt(many)].map((name) => figureOf(seriesNamed(series, name), 'actions/s')),
      atLeast(1_000, 'actions/s', figureOf(atFew, 'actions/s')),
      atLeast(0.9, `× with ${few.toLocaleString('en')} waiting`, ratio(atMany, atFew)),
      atLeast(0.5, '× the least', ratio(atFew, seriesNamed(series, leastAt(few)))),
    ],
    raw: { few, many, series },
  };
}

function fanfareAt(waiting: number): string {
  return `one worker, ${waiting.toLocaleString('en')} waiting`;
}

function leastAt(waiting: number): string {
  return `plain driver, ${waiting.toLocaleString('en')} waiting`;
}

/** An action with one reader as the server records it. */
async function publishOne({ environment }: PartContext, database: string) {
  await using world = await openRawWorld(environment, database);
  await using fanfare = await openInProcess(environment, database, { worker: false });
  await fanfare.publish(ratingInput(0, [], { mentions: ['member-0'] }));
  const action = await world.actions.findOne({ mentions: 'member-0' });
  if (action === null) throw new Error('The published action is not there');
  return action;
}

/** Has an import of so many actions wait, each time it is called, until a worker has begun with it. */
export async function importInto(context: PartContext, closer: Closer, database: string, count: number) {
  const template = await publishOne(context, database);
  const world = closer.own(await openRawWorld(context.environment, database));
  return async (): Promise<void> => {
    await fill(world, template, count);
    await untilDone('An import', 10, async () =>
      Math.max(0, (await world.actions.countDocuments(WAITING)) - count + 1),
    );
  };
}

/** Has so many actions wait. */
async function fill(world: RawWorld, template: WithId<ActionDocument>, waiting: number): Promise<void> {
  const { actions } = world;
  await actions.deleteMany({ 'fanOut.state': { $ne: 'PENDING' } });
  await world.items.deleteMany({});
  const missing = waiting - (await actions.countDocuments(WAITING));
  await load(actions, missing, (index) => {
    const userId = `member-${String(index % READERS)}`;
    const audience = template.audience.map((key) => (key.startsWith('user:') ? `user:${userId}` : key));
    const recorded = new Date();
    // Longer ago than what rankings score: that is not part of the delivery.
    const conducted = new Date(recorded.getTime() - 2 * 86_400_000);
    return {
      ...{ ...template, _id: new ObjectId(), conducted, recorded, audience, mentions: [userId] },
      fanOut: { ...template.fanOut, lane: 'BULK' as const, leaseUntil: recorded },
    };
  });
  await informPlanner(world);
}

/** Actions a second. */
async function delivered({ environment }: PartContext, database: string, count: number): Promise<number> {
  await using fanfare = await openInProcess(environment, database, { worker: true });
  return await fanfare.rate(count);
}

async function least({ actions, items }: RawWorld, count: number): Promise<number> {
  const from = now();
  for (let done = 0; done < count; done += AT_ONCE) {
    const leaseUntil = { $exists: true, $lte: new Date() };
    const batch = await actions
      .find({ 'fanOut.state': 'PENDING', 'fanOut.lane': 'BULK', 'fanOut.leaseUntil': leaseUntil })
      .hint('claim_by_lane')
      .limit(Math.min(AT_ONCE, count - done))
      .toArray();
    const _id = { $in: batch.map((action) => action._id) };
    const claim = { 'fanOut.state': 'IN_PROGRESS', 'fanOut.worker': 'raw', 'fanOut.leaseUntil': new Date() };
    await actions.updateMany({ _id, 'fanOut.state': 'PENDING' }, { $set: claim });
    const toItems = batch.flatMap(({ _id: actionId, mentions, latest: relevancy }) =>
      mentions.map((userId) => ({
        ...{ _id: itemId(userId, actionId), userId, actionId, relevancy, reasons: ['MENTION' as const] },
      })),
    );
    await items.insertMany(toItems, { ordered: false });
    await actions.bulkWrite(
      batch.map((action) => ({
        updateOne: {
          filter: { _id: action._id },
          update: {
            $set: { 'fanOut.state': 'DONE' as const, 'fanOut.doneAt': new Date() },
            $unset: { 'fanOut.worker': 1, 'fanOut.leaseUntil': 1, 'fanOut.lane': 1 },
          },
        },
      })),
      { ordered: false },
    );
  }
  return count / ((now() - from) / 1_000);
}
