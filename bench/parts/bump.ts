import { ObjectId } from 'mongodb';
import type { AnyBulkWriteOperation, Db } from 'mongodb';
import type { NewsfeedItemDocument } from '../../src/storage/documents/documents.ts';
import { openInProcess, type InProcess } from '../harness/in-process.ts';
import { atMost, type PartReport } from '../harness/report.ts';
import { alternate, figureOf, ratioFigure, seriesNamed, type Measure } from '../harness/rounds.ts';
import { timed } from '../harness/statistics.ts';
import { ratingInput } from '../world/actions.ts';
import { itemsCollection, newItems } from '../world/items.ts';
import { loadFollowers } from '../world/people.ts';
import { openRawWorld, type RawWorld } from '../world/raw.ts';
import { roundsOf, sized, type Part, type PartContext } from '../harness/part.ts';
import { addInteraction } from '../../src/features/interactions/add-interaction.ts';
import { openSession } from '../../src/feed/session/open-session.ts';

/** Of the sizes that were tried, none is faster by more than its spread. */
const BATCH = 1_000;
const REF = 'site-bumped';
const DAY = 86_400_000;
/** Who published the actions: a member who comments on one must be allowed to see it. */
const ACTOR = 'actor-1';
const PASS = 'bump, the pass alone';
const WHOLE = 'bump, addInteraction → DONE';
const AS_ONE = 'raw updateMany of all items';
const IN_BATCHES = `raw bulkWrite, batches of ${String(BATCH)}`;

/** An interaction boosts an action in every feed that holds it, beside the plain driver, which updates the same items. */
export const bumpPart: Part = { name: 'bump', run };

async function run(context: PartContext): Promise<PartReport> {
  const { environment, options, say } = context;
  const holders = sized(options, { full: 10_000, short: 3_000, smoke: 300 });
  const rounds = roundsOf(options, { full: 9, short: 3, smoke: 1 });
  await using world = await openRawWorld(environment, 'bench_bump');
  const raw = environment.driver.db('bench_bump_raw');
  await loadFollowers(world.follows, REF, holders);
  await using fanfare = await openInProcess(environment, 'bench_bump', { worker: true });
  const actionId = await fanfare.publish(
    // Long ago, so that every interaction boosts it for everybody by more than the one before.
    ratingInput(1, [{ id: REF }], { conducted: new Date(Date.now() - 30 * DAY) }),
  );
  const { delivered } = await fanfare.done(actionId);
  if (delivered !== holders) throw new Error(`Delivered ${String(delivered)} of ${String(holders)} items`);
  const bump: Measure = async () => {
    const before = await highest(world, actionId);
    let seconds = 0;
    const whole = await timed(async () => {
      ({ seconds } = await bumpOnce(fanfare, actionId));
    });
    const behind = await world.items.countDocuments({
      actionId: new ObjectId(actionId),
      relevancy: { $lte: before },
    });
    if (behind > 0) throw new Error(`${String(behind)} items were not boosted`);
    return { [WHOLE]: whole, [PASS]: seconds * 1_000 };
  };
  const updates = [await rawUpdate(raw, holders, IN_BATCHES), await rawUpdate(raw, holders, AS_ONE)];
  say(`${String(holders)} items, ${String(rounds)} rounds`);
  const series = await alternate([bump, ...updates], {
    rounds,
    warmUp: sized(options, { full: 2, short: 1, smoke: 0 }),
  });
  await raw.dropDatabase();
  const ratio = (name: string, against: string, note?: string) =>
    ratioFigure(`${name} / ${against}`, seriesNamed(series, name), seriesNamed(series, against), note);
  const waiting = 'includes the way to the worker';
  return {
    title: 'Bump of an action',
    about: [
      `An interaction with an action that is in ${String(holders)} feeds boosts all its items. The pass alone: from its claim to DONE. From addInteraction: ${waiting}.`,
      'The plain driver updates the same number of the same documents with the same indexes: unordered bulkWrites of updateOne; and, for which there is no target, all of them by one updateMany.',
    ],
    figures: [
      ...series.map((entry) => figureOf(entry, 'ms')),
      ratio(PASS, AS_ONE),
      ...[ratio(PASS, IN_BATCHES), ratio(WHOLE, IN_BATCHES, waiting)].map((figure) =>
        atMost(1.3, '× raw unordered bulk update', figure),
      ),
    ],
    raw: { holders, milliseconds: Object.fromEntries(series.map(({ name, values }) => [name, values])) },
  };
}

let comments = 0;

async function bumpOnce(fanfare: InProcess, actionId: string) {
  const { core } = fanfare.app;
  const session = openSession(core, fanfare.service);
  await addInteraction(core, session, {
    actionId,
    kind: 'COMMENT',
    actorId: ACTOR,
    idempotencyKey: `comment-${String(comments++)}`,
  });
  return fanfare.done(actionId);
}

async function highest({ items }: RawWorld, actionId: string): Promise<Date> {
  const item = await items.findOne({ actionId: new ObjectId(actionId) }, { sort: { relevancy: -1 } });
  if (item === null) throw new Error('The action is in no feed');
  return item.relevancy;
}

/** Updates all items. */
async function rawUpdate(db: Db, holders: number, name: string): Promise<Measure> {
  const items = await itemsCollection(db, name === AS_ONE ? 'items_as_one' : 'items_in_batches');
  const documents = newItems(holders);
  await items.insertMany(documents, { ordered: false });
  const actionId = documents[0]?.actionId ?? new ObjectId();
  return async () => {
    const update = { $max: { relevancy: new Date() } };
    const operations = documents.map(({ userId }): AnyBulkWriteOperation<NewsfeedItemDocument> => ({
      updateOne: { filter: { actionId, userId }, update },
    }));
    let modified = 0;
    const milliseconds = await timed(async () => {
      if (name === AS_ONE) modified = (await items.updateMany({ actionId }, update)).modifiedCount;
      else
        for (let from = 0; from < operations.length; from += BATCH) {
          const result = await items.bulkWrite(operations.slice(from, from + BATCH), { ordered: false });
          modified += result.modifiedCount;
        }
    });
    if (modified !== holders) throw new Error(`${String(modified)} items were updated`);
    return { [name]: milliseconds };
  };
}
