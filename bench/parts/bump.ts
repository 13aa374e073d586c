import { ObjectId } from 'mongodb';
import { openInProcess, type InProcess } from '../harness/in-process.ts';
import { atMost, type PartReport } from '../harness/report.ts';
import { alternate, figureOf, median, ratioFigure, seriesNamed, type Measure } from '../harness/rounds.ts';
import { timed } from '../harness/statistics.ts';
import { ratingInput } from '../world/actions.ts';
import { newItems } from '../world/items.ts';
import { loadFollowers } from '../world/people.ts';
import { openRawWorld, type RawWorld } from '../world/raw.ts';
import { roundsOf, sized, type Part, type PartContext } from '../harness/part.ts';
import { addInteraction } from '../../src/features/interactions/add-interaction.ts';
import { openSession } from '../../src/feed/session/open-session.ts';

const REF = 'site-bumped';
const DAY = 86_400_000;
/** Who published the actions: a member who comments on one must be allowed to see it. */
const ACTOR = 'actor-1';
const PASS = 'bump, the pass alone';
const WHOLE = 'bump, addInteraction → DONE';
const RAW = 'raw updateMany of all items';

/** An interaction boosts an action in every feed that holds it, beside the plain driver, which updates the same items. */
export const bumpPart: Part = { name: 'bump', run };

async function run(context: PartContext): Promise<PartReport> {
  const { environment, options, say } = context;
  const holders = sized(options, { full: 10_000, short: 3_000, smoke: 300 });
  const rounds = roundsOf(options, { full: [9, 2], short: [3, 1], smoke: [1, 0] });
  await using world = await openRawWorld(environment, 'bench_bump');
  await using raw = await openRawWorld(environment, 'bench_bump_raw');
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
  say(`${String(holders)} items, ${String(rounds.rounds)} rounds`);
  const series = await alternate([bump, await rawUpdate(raw, holders)], rounds);
  const ratio = (name: string, note?: string) =>
    ratioFigure(`${name} / ${RAW}`, seriesNamed(series, name), seriesNamed(series, RAW), note);
  const waiting = 'includes the way to the worker';
  return {
    title: 'Bump of an action',
    about: [
      `An interaction with an action that is in ${String(holders)} feeds boosts all its items. The pass alone: from its claim to DONE. From addInteraction: ${waiting}.`,
      'The plain driver updates the same number of the same documents with the same indexes by one updateMany.',
    ],
    figures: [
      ...series.map((entry) => figureOf(entry, 'ms')),
      atMost(1.2, '× raw updateMany', ratio(PASS)),
      ratio(WHOLE, waiting),
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
async function rawUpdate({ items }: RawWorld, holders: number): Promise<Measure> {
  const documents = newItems(holders);
  await items.insertMany(documents, { ordered: false });
  const actionId = documents[0]?.actionId ?? new ObjectId();
  return median(RAW, 1, async () => {
    const { modifiedCount } = await items.updateMany({ actionId }, { $max: { relevancy: new Date() } });
    if (modifiedCount !== holders) throw new Error(`${String(modifiedCount)} items were updated`);
  });
}
