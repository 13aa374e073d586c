import type { ActionDocument } from '../../src/storage/documents/documents.ts';
import { openInProcess, type InProcess } from '../harness/in-process.ts';
import { withProfile } from '../harness/profile.ts';
import { alternate, type Contender, type Series } from '../harness/rounds.ts';
import { quantile, timed } from '../harness/statistics.ts';
import { FEED_REF, loadActions, loadFeed } from '../world/feed.ts';
import { bigRefId, loadBigRefs, loadFollowing, loadSpreadActions } from '../world/models-pulled.ts';
import { servicePage } from '../world/pages.ts';
import { informPlanner, openRawWorld, type RawWorld } from '../world/raw.ts';
import { roundsOf, sized, type PartContext } from './part.ts';

/** What pulled refs cost their readers, p50 in milliseconds. */
export interface ReaderCosts {
  readonly first: number;
  /** Entries of each reader's stored feed. */
  readonly length: number;
  /** Actions of each pulled ref, and how many of them a day. */
  readonly each: number;
  readonly perDay: number;
  /** Pulled refs there are. */
  readonly refs: number;
  /** Where no ref is pulled at all. */
  readonly without: Series;
  /** By how many of the pulled refs the reader follows; the first one follows none. */
  readonly following: readonly { readonly count: number; readonly p50: Series }[];
}

const FIRST = 25;
const PER_DAY = 4;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const ALONE = 'reader';

export async function measureReaders(context: PartContext): Promise<ReaderCosts> {
  const { environment, options, say, profileDir } = context;
  const counts = sized(options, { full: [0, 1, 10, 50, 200], short: [0, 1, 10, 50, 200], smoke: [0, 1, 10] });
  const each = sized(options, { full: 100, short: 50, smoke: 20 });
  const length = sized(options, { full: 500, short: 200, smoke: 40 });
  const pages = sized(options, { full: 100, short: 50, smoke: 3 });
  const refs = Math.max(...counts);
  say(`readers of ${counts.join(', ')} pulled refs`);
  await using plainWorld = await openRawWorld(environment, 'bench_push_pull_plain');
  await using plain = await openInProcess(environment, 'bench_push_pull_plain', { worker: false });
  await loadFeed(plainWorld, ALONE, await loadStored(plainWorld, plain, length));
  await informPlanner(plainWorld);
  await using world = await openRawWorld(environment, 'bench_push_pull_readers');
  // Before anything is loaded: a database that no process has opened yet counts as one of an earlier release.
  await using fanfare = await openInProcess(environment, 'bench_push_pull_readers', { worker: false });
  const refIds = Array.from({ length: refs }, (_, index) => bigRefId(index));
  await loadBigRefs(world, refIds, { followers: 1_000_000, isPulled: true });
  const actions = await loadStored(world, fanfare, length);
  const [template] = actions;
  if (template === undefined) throw new Error('There are no actions');
  await loadSpreadActions(world, template, refIds, { each, apartMs: DAY / PER_DAY, isPulled: true });
  for (const count of counts) {
    await loadFeed(world, readerOf(count), actions);
    await loadFollowing(world, readerOf(count), refIds.slice(0, count));
  }
  await informPlanner(world);
  for (const count of counts) await expectPulled(fanfare, count);
  const p50 = (name: string, app: InProcess, reader: string): Contender => ({
    name,
    measure: async () => {
      const times: number[] = [];
      for (let page = 0; page < pages; page++) times.push(await timed(() => servicePage(app, reader, FIRST)));
      return quantile(times, 0.5);
    },
  });
  const [without, ...following] = await withProfile(profileDir, 'push-pull-readers', () =>
    alternate(
      [
        p50('page where no ref is pulled, p50', plain, ALONE),
        ...counts.map((count) => p50(nameOf(count), fanfare, readerOf(count))),
      ],
      {
        rounds: roundsOf(options, { full: 7, short: 3, smoke: 1 }),
        warmUp: sized(options, { full: 2, short: 1, smoke: 0 }),
      },
    ),
  );
  if (without === undefined) throw new Error('Nothing was measured');
  return {
    ...{ first: FIRST, length, each, perDay: PER_DAY, refs, without },
    following: following.map((series, index) => ({ count: counts[index] ?? 0, p50: series })),
  };
}

/** The actions of the stored feeds, an hour apart. */
async function loadStored(
  world: RawWorld,
  fanfare: InProcess,
  length: number,
): Promise<readonly ActionDocument[]> {
  const [template] = await loadActions(world, fanfare, 1);
  if (template === undefined) throw new Error('There is no action');
  await world.actions.deleteOne({ _id: template._id });
  return loadSpreadActions(world, template, [FEED_REF], { each: length, apartMs: HOUR, isPulled: false });
}

function readerOf(count: number): string {
  return `${ALONE}-of-${String(count)}`;
}

function nameOf(count: number): string {
  return count === 0
    ? 'page of a reader of no pulled ref, p50'
    : `page of a reader of ${String(count)} pulled, p50`;
}

/** What is pulled must come from as many refs as are followed and have something on the page, or it would cost nothing. */
async function expectPulled(fanfare: InProcess, count: number): Promise<void> {
  const { services } = fanfare.app;
  const session = services.openSession(fanfare.identity(readerOf(count)));
  const { pulledFollows } = await session.profile();
  if (pulledFollows.length !== count)
    throw new Error(
      `The reader follows ${String(pulledFollows.length)} pulled refs instead of ${String(count)}`,
    );
  const { edges } = await services.readFeed(session, { first: 100 });
  const pulled = edges.filter(({ node }) => node.reasons.includes('PULL')).length;
  if (pulled > 0 !== count > 0) throw new Error(`${String(pulled)} entries of the page are pulled`);
}
