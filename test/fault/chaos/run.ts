import { setTimeout as delay } from 'node:timers/promises';
import { encodeNewsfeedItemId } from '../../../src/graphql/global-id.ts';
import type { Mirror } from '../../support/mirror.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { counterDifferences, deliveredDifferences } from './counters.ts';
import { listDifferences } from './lists.ts';
import { openJournal, type Journal } from './journal.ts';
import { operationsIn } from './operations.ts';
import { makeTroubles, type Outage } from './troubles.ts';
import type { Complaint } from './fleet.ts';
import { HERALD, openWorld, type World } from './world.ts';

export interface ChaosOptions {
  readonly seed: number;
  readonly model: string;
  readonly durationMs: number;
  readonly pauseMs: number;
  /** A file for everything that was done; null: none. */
  readonly journalFile: string | null;
}

export interface ChaosReport {
  readonly differences: readonly string[];
  /** In words: what was done and what came of it. */
  readonly summary: string;
}

/** Clients that do things side by side. */
const CLIENTS = 4;
/** The longest time between two operations of one client. */
const BREATH_MS = 400;
/** A busy machine takes longer for them. */
const LEAST_OPERATIONS = 100;
/** For what is left to do after the last trouble, on a busy machine. */
const PATIENCE_MS = 5 * 60_000;
/** For live lists to come to agree once nothing is left to do. */
const SETTLE_MS = 60_000;
/** An error that no service being away explains. */
const MISTAKE = /"type":"(?:Type|Range|Reference|Syntax|Assertion)Error"/;
/** What ends so soon is waited for. */
const SOON_MS = 60_000;
const COMMENTED_AT_THE_END = 30;

/** One installation under random operations and troubles, and how it differs from the definition when all is quiet. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { seed, model, durationMs, pauseMs, journalFile } = options;
  const random = seededRandom(seed);
  const feedCap = random.pick([50, 1_000]);
  await using world = await openWorld({ model, feedCap });
  const journal = openJournal(journalFile);
  const outages: Outage[] = [];
  const note = (line: string): void => {
    journal.write(`— ${line}, ${new Date().toISOString()}`);
  };
  try {
    await eventually('all watchers are connected', () =>
      Promise.resolve(world.mirrors.every(({ resyncs }) => resyncs.length > 0)),
    );
    await disturb(world, seed, { durationMs, pauseMs, journal, note, outages });
    note('quiet');
    await quiet(world);
    note('nothing is left to do');
    let differences: readonly string[] = [];
    const deadline = Date.now() + SETTLE_MS;
    do {
      differences = await listDifferences(world);
    } while (differences.length > 0 && Date.now() < deadline);
    const commented = await commentOnTheNewest(world);
    const all = [
      ...journal.faults,
      ...faultsAmong(world.fleet.complaints(), outages),
      ...world.mirrors.flatMap(({ reader, faults }) => faults.map((fault) => `watch of ${reader}: ${fault}`)),
      ...differences,
      ...(await counterDifferences(world)),
      ...(await deliveredDifferences(world, commented)),
    ];
    return {
      differences: all.map((line) => withHistory(line, journal)),
      summary: summaryOf(world, feedCap, journal),
    };
  } finally {
    world.fleet.complaints().forEach(({ text }) => {
      journal.write(text);
    });
  }
}

async function disturb(
  world: World,
  seed: number,
  {
    durationMs,
    pauseMs,
    journal,
    note,
    outages,
  }: Pick<ChaosOptions, 'durationMs' | 'pauseMs'> & {
    readonly journal: Journal;
    readonly note: (line: string) => void;
    readonly outages: Outage[];
  },
): Promise<void> {
  const over = new AbortController();
  const random = seededRandom(seed + 1);
  const operations = operationsIn(world, random, journal);
  const end = Date.now() + durationMs;
  let count = 0;
  const client = async (): Promise<void> => {
    while (Date.now() < end || count < LEAST_OPERATIONS) {
      await operations.once();
      count += 1;
      await delay(random.below(BREATH_MS));
    }
    over.abort();
  };
  await Promise.all([
    makeTroubles(world, seededRandom(seed + 2), { pauseMs, signal: over.signal, note, outages }),
    ...Array.from({ length: CLIENTS }, client),
  ]);
  await within('all processes are up', world.fleet.isWhole());
  await operations.finish();
}

/** Resolves when all processes are up, nothing is left to do, and every watcher was told of the last action. */
async function quiet(world: World): Promise<void> {
  const { app, readers, mirrors } = world;
  const { actions, erasures, interactions } = app.app.database.collections;
  const soon = (): Date => new Date(Date.now() + SOON_MS);
  const idle = async (): Promise<boolean> =>
    (await actions.countDocuments({ isDeleted: false, expiresAt: { $lte: soon() } })) === 0 &&
    (await actions.countDocuments({ 'fanOut.state': { $in: ['PENDING', 'IN_PROGRESS'] } })) === 0 &&
    (await erasures.countDocuments({ state: { $ne: 'DONE' } })) === 0 &&
    (await interactions.countDocuments({ settling: { $exists: true } })) === 0;
  await eventually('all fan-outs, erasures and interactions are settled', () => idle().catch(() => false));
  await within('everything in the background is done', app.idle());
  const { action } = await app.services.publishAction(app.identity('importer', 'service'), {
    actorId: HERALD,
    scope: 'PUBLIC',
    mentions: [...readers],
    descriptor: { custom: { verb: 'called', objectType: 'end', objectId: 'end' } },
  });
  await within('the last action is delivered', app.idle());
  const untold = (): readonly Mirror[] =>
    mirrors.filter(({ reader, shown }) => !shown.has(encodeNewsfeedItemId(reader, action.id)));
  await eventually('every watcher was told of the last action', () =>
    Promise.resolve(untold().length === 0),
  ).catch((error: unknown) => {
    const missed = untold().map(({ reader, latest, faults }) => [reader, ...latest, ...faults].join('\n  '));
    throw new Error(`Not told of ${action.id}:\n${missed.join('\n')}`, { cause: error });
  });
}

/** Makes a last pass over the newest actions and gives their ids. */
async function commentOnTheNewest({ app }: World): Promise<string[]> {
  const { actions } = app.app.database.collections;
  const newest = await actions
    .find({ isHidden: false, isDeleted: false })
    .sort({ _id: -1 })
    .limit(COMMENTED_AT_THE_END)
    .toArray();
  for (const { _id, actorId } of newest)
    await app.services.addInteraction(app.session('importer', 'service'), {
      actionId: _id.toHexString(),
      kind: 'COMMENT',
      // Who certainly sees it.
      actorId,
    });
  await within('the last passes are done', app.idle());
  return newest.map(({ _id }) => _id.toHexString());
}

/**
 * Whatever happens, no process ends on its own. One that is started while a service is away may end, and is started
 * again; and what failed meanwhile may be logged, as long as it is not a mistake of ours.
 */
function faultsAmong(complaints: readonly Complaint[], outages: readonly Outage[]): string[] {
  return complaints
    .filter(({ kind, from, at, text }) => {
      const since = kind === 'logged' ? at : from;
      const isOutage = outages.some((outage) => outage.from <= at && outage.to >= since);
      return kind === 'ended' || !isOutage || MISTAKE.test(text);
    })
    .map(({ text }) => text);
}

/** A difference with what was done to the action it is about. */
function withHistory(difference: string, { lines }: Journal): string {
  const [id] = /[0-9a-f]{24}/.exec(difference) ?? [];
  if (id === undefined) return difference;
  return [difference, ...lines.filter((line) => line.includes(id)).slice(-6)].join('\n    ');
}

function summaryOf({ mirrors, fleet }: World, feedCap: number, { codes, lines }: Journal): string {
  const events = mirrors.reduce((sum, { eventCount }) => sum + eventCount, 0);
  const answers = [...codes].map(([code, count]) => `${code} ${String(count)}`).join(', ');
  return [
    `cap ${String(feedCap)}; answers: ${answers}; ${String(events)} events`,
    `resyncs: ${mirrors.map(({ resyncs }) => resyncs.length).join(' ')}`,
    ...lines.filter((line) => line.startsWith('—')),
    ...new Set(fleet.complaints().map(({ text }) => text.slice(0, 300))),
  ].join('\n');
}

async function eventually(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`Waited in vain until ${what}`);
    await delay(100);
  }
}

async function within(what: string, work: Promise<void>): Promise<void> {
  const over = new AbortController();
  const late = delay(PATIENCE_MS, undefined, { signal: over.signal }).then(
    () => Promise.reject(new Error(`Waited in vain until ${what}`)),
    () => undefined,
  );
  await Promise.race([work, late]).finally(() => {
    over.abort();
  });
}
