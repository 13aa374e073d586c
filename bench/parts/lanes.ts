import type { ActionDocument } from '../../src/storage/documents/documents.ts';
import { startApi, startWorker, tokenFor } from '../harness/fanfare.ts';
import { graphqlRequest } from '../harness/http-lanes.ts';
import { LanePool } from '../harness/lane-pool.ts';
import { judge, type Figure, type PartReport } from '../harness/report.ts';
import { ratioOf, type Series } from '../harness/rounds.ts';
import { now, once, quantile, summarise } from '../harness/statistics.ts';
import { ratingInput } from '../world/actions.ts';
import { loadFollowers } from '../world/people.ts';
import { IMPORT } from '../world/queries.ts';
import { openRawWorld, type RawWorld } from '../world/raw.ts';
import { openWatchedWork, type Took, type WatchedWork } from '../world/watched-work.ts';
import { roundsOf, sized, type Part, type PartContext } from './part.ts';

const DATABASE = 'bench_lanes';
const REF = 'site-imported';
/** As many as one call may publish. */
const PENDING = 500;
/** Between two operations, so that what is measured is not the wait between two passes of one action. */
const PAUSE_MS = 150;
/** Before an operation that comes after a while in which nobody did anything. */
const QUIET_MS = 2_000;
const LOOK_EVERY_MS = 100;

const OPERATIONS = ['publish', 'comment', 'hide', 'comment after a quiet moment'] as const;
type Operation = (typeof OPERATIONS)[number];
type Measured = Readonly<Record<Operation, Took[]>>;

interface Round {
  readonly idle: Measured;
  readonly busy: Measured;
  /** Items a second that the import got while others worked, and afterwards. */
  readonly bulkBeside: number;
  readonly bulkAlone: number;
}

/** What people do while an import is being delivered, beside the same on an idle server. */
export const lanesPart: Part = { name: 'lanes', run };

async function run({ environment, options, say, profileDir }: PartContext): Promise<PartReport> {
  const readers = sized(options, { full: 1_000, short: 500, smoke: 20 });
  const cycles = sized(options, { full: 15, short: 10, smoke: 1 });
  const rounds = roundsOf(options, { full: 5, short: 2, smoke: 1 });
  await using world = await openRawWorld(environment, DATABASE);
  await loadFollowers(world.follows, REF, readers);
  await using api = await startApi({ environment, database: DATABASE, profileDir });
  await using _worker = await startWorker({ environment, database: DATABASE, profileDir });
  await using work = await openWatchedWork(api);
  await using pool = new LanePool(api.url, 1);
  const service = await tokenFor('importer', ['service']);
  await operate(work, sized(options, { full: 10, short: 5, smoke: 1 }));
  const measured: Round[] = [];
  for (let round = 0; round < rounds; round++) {
    const idle = await operate(work, cycles);
    const inputs = Array.from({ length: PENDING }, (_, index) => ratingInput(index, [{ id: REF }]));
    await pool.ask(graphqlRequest(api.url, service, IMPORT, { inputs }));
    const [startedAt, before] = [now(), await pending(world)];
    const busy = await operate(work, cycles);
    const [endedAt, after] = [now(), await pending(world)];
    if (after === 0) throw new Error('The import was delivered before the measurement ended');
    await allDelivered(world);
    const perSecond = (actions: number, ms: number): number => (actions * readers) / (ms / 1_000);
    const one: Round = {
      idle,
      busy,
      bulkBeside: perSecond(before - after, endedAt - startedAt),
      bulkAlone: perSecond(after, now() - endedAt),
    };
    measured.push(one);
    say(describe(one));
  }
  return report({ readers, cycles, measured });
}

/** Publishes an action, comments on the one before and hides the one before that, so often. */
async function operate(work: WatchedWork, cycles: number): Promise<Measured> {
  const measured: Measured = { publish: [], comment: [], hide: [], 'comment after a quiet moment': [] };
  const open = [(await work.publish()).id, (await work.publish()).id];
  for (let cycle = 0; cycle < cycles; cycle++) {
    await pause();
    const published = await work.publish();
    open.push(published.id);
    measured.publish.push(published);
    await pause();
    measured.comment.push(await work.comment(open[1] ?? ''));
    await pause();
    measured.hide.push(await work.hide(open.shift() ?? ''));
    if (cycle % 3 !== 0) continue;
    await pause(QUIET_MS);
    measured['comment after a quiet moment'].push(await work.comment(open[1] ?? ''));
  }
  return measured;
}

function pause(milliseconds = PAUSE_MS): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Fan-outs of the import that are not done. */
function pending({ actions }: RawWorld): Promise<number> {
  const states: ActionDocument['fanOut']['state'][] = ['PENDING', 'IN_PROGRESS'];
  return actions.countDocuments({
    refIds: REF,
    'fanOut.state': { $in: states },
    'fanOut.leaseUntil': { $exists: true },
  });
}

async function allDelivered(world: RawWorld): Promise<void> {
  while ((await pending(world)) > 0) await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
}

const events = (took: readonly Took[]): number[] => took.map(({ event }) => event);
const answers = (took: readonly Took[]): number[] => took.map(({ answer }) => answer);

function describe({ idle, busy, bulkBeside, bulkAlone }: Round): string {
  const each = OPERATIONS.map((operation) => {
    const [before, beside] = [idle[operation], busy[operation]];
    const ms = (values: number[]): string =>
      `${quantile(values, 0.5).toFixed(0)}/${quantile(values, 0.95).toFixed(0)}`;
    return `${operation} ${ms(events(before))} → ${ms(events(beside))} (answer ${ms(answers(before))} → ${ms(answers(beside))})`;
  });
  return `${each.join(', ')} ms; bulk ${bulkBeside.toFixed(0)} beside, ${bulkAlone.toFixed(0)} items/s alone`;
}

function report({
  readers,
  cycles,
  measured,
}: {
  readonly readers: number;
  readonly cycles: number;
  readonly measured: readonly Round[];
}): PartReport {
  const medians = (name: string, of: (round: Round) => readonly Took[]): Series => ({
    name,
    values: measured.map((round) => quantile(events(of(round)), 0.5)),
  });
  const p95 = (of: (round: Round) => readonly Took[]): number =>
    quantile(
      measured.flatMap((round) => events(of(round))),
      0.95,
    );
  const figures: Figure[] = [];
  const verdicts = [];
  for (const operation of OPERATIONS) {
    const idle = medians(`${operation} → event, idle`, (round) => round.idle[operation]);
    const busy = medians(`${operation} → event, import pending`, (round) => round.busy[operation]);
    const [idle95, busy95] = [p95((round) => round.idle[operation]), p95((round) => round.busy[operation])];
    for (const { name, values } of [idle, busy])
      figures.push({ name: `${name}, p50`, unit: 'ms', summary: summarise(values, name) });
    figures.push(
      { name: `${idle.name}, p95`, unit: 'ms', summary: once(idle95, idle.name) },
      { name: `${busy.name}, p95`, unit: 'ms', summary: once(busy95, busy.name) },
      {
        name: `${operation}: p95 with the import pending / idle`,
        unit: '×',
        summary: once(busy95 / idle95, operation),
      },
    );
    const ratio: Figure = {
      name: `${operation}: p50 with the import pending / idle`,
      unit: '×',
      summary: ratioOf(busy, idle),
      note: `${String(PENDING)} actions for ${String(readers)} readers each; from the request to the watcher’s socket`,
    };
    verdicts.push(judge('lanes', ratio));
  }
  for (const [name, of] of [
    ['import, nothing else at work', ({ bulkAlone }: Round) => bulkAlone],
    ['import beside the operations', ({ bulkBeside }: Round) => bulkBeside],
  ] as const)
    figures.push({ name, unit: 'items/s', summary: summarise(measured.map(of), name) });
  return {
    title: 'People beside an import',
    about: [
      `One reader watches. A service publishes for them, comments on and a moderator hides what they see, one after the other, ${String(cycles)} times: on an idle server, and with ${String(PENDING)} fan-outs of an import pending, of ${String(readers)} readers each. API and worker are processes of their own.`,
    ],
    figures,
    verdicts,
    charts: [],
    raw: { readers, pending: PENDING, rounds: measured },
  };
}
