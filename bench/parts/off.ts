import { execFileSync } from 'node:child_process';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkOut } from '../harness/checkout.ts';
import { startApi, tokenFor, type FanfareApi, type FanfareOptions } from '../harness/fanfare.ts';
import { openInProcess } from '../harness/in-process.ts';
import { graphqlRequest, hammer } from '../harness/http-lanes.ts';
import { Closer } from '../../src/lib/closer.ts';
import { roundsOf, sized, type Part, type PartContext } from '../harness/part.ts';
import { atMost, type PartReport } from '../harness/report.ts';
import {
  alternate,
  figureOf,
  ratioFigure,
  seriesNamed,
  type Measure,
  type Series,
} from '../harness/rounds.ts';
import { now } from '../harness/statistics.ts';
import { loadActions, loadFeed, loadNames } from '../world/feed.ts';
import { FEED, PAGES } from '../world/other-pages.ts';
import { expectPage } from '../world/pages.ts';
import { openRawWorld } from '../world/raw.ts';

const DATABASE = 'bench_off';
const READER = 'reader-of-pages';
/** Parts that a setting has off unless it is given, and a path or command that nobody asks for. */
const PARTS = [
  'consume',
  'elements',
  'federation',
  'ingest',
  'mail',
  'mcp',
  'syndication',
  'web-push',
  'webhooks',
];
const SIDES = ['off', 'deleted'] as const;
type Side = (typeof SIDES)[number];
const START = 'start, ms';
const START_CPU = 'CPU of a start, ms';
const MEMORY = 'memory after the start, MiB';
const PAGE_CPU = 'CPU of the API for a page, ms';
const MEMORY_AFTER = 'memory after pages, MiB';
const COMPARED = [START, START_CPU, MEMORY, PAGE_CPU, MEMORY_AFTER] as const;
const MIB = 1_048_576;
const named = (what: string, side: Side): string => `${what}, ${side}`;

/** What parts cost that are off: this commit beside itself without their folders and lines. */
export const offPart: Part = { name: 'off', run };

async function run(context: PartContext): Promise<PartReport> {
  const { environment, options, say } = context;
  const length = sized(options, { full: 1_000, short: 300, smoke: 60 });
  const turns = sized(options, { full: 20, short: 10, smoke: 1 });
  const whole = checkOut('HEAD', join(environment.folder, 'off'), say);
  const checkouts = { off: whole.folder, deleted: await withoutParts(whole.folder) };
  await using world = await openRawWorld(environment, DATABASE);
  await using fanfare = await openInProcess(environment, DATABASE, { worker: false });
  await loadFeed(world, READER, await loadActions(world, fanfare, length));
  await loadNames(fanfare);
  const of = (side: Side): FanfareOptions => ({ environment, database: DATABASE, checkout: checkouts[side] });
  const all = await alternate(
    [pairMeasure(of, turns)],
    roundsOf(options, { full: [24, 1], short: [8, 1], smoke: [1, 0] }),
  );
  return {
    title: 'Parts that are off',
    about: [
      `One API process of commit ${whole.commit} with all of them off, as they are by default, and one of the same commit without the folders and lines of ${PARTS.join(', ')}. A start is from the command until it listens.`,
      `Two processes of the same code differ by more than a hundredth, by what was compiled when. So each round starts a process of each side and compares these two; after ${String(WARM_UP)} pages for nothing, they give ${String(PAGES_A_TURN)} pages in turn, ${String(turns)} times. A note has the mean of all rounds and how uncertain it is.`,
    ],
    figures: COMPARED.flatMap((what) => {
      const [a, b] = SIDES.map((side) => seriesNamed(all, named(what, side)));
      if (a === undefined || b === undefined) throw new Error(`${what} was not measured`);
      return [
        ...[a, b].map((one) => figureOf(one, what.endsWith('MiB') ? 'MiB' : 'ms')),
        atMost(1.01, '×', ratioFigure(`${what}: off / deleted`, a, b, meanOf(a, b))),
      ];
    }),
    raw: { commit: whole.commit, series: all },
  };
}

/** Pages before the first that counts: most of what runs is compiled by then. */
const WARM_UP = 600;
const PAGES_A_TURN = 50;

/** A process of each side, started one after the other, side by side. Which is the first changes with the round. */
function pairMeasure(of: (side: Side) => FanfareOptions, turns: number): Measure {
  return async (round) => {
    await using closer = new Closer();
    const figures: Record<string, number> = {};
    const started: {
      readonly side: Side;
      readonly api: FanfareApi;
      readonly pages: (count: number) => Promise<number>;
    }[] = [];
    for (const side of inTurn(round)) {
      const since = now();
      const api = closer.own(await startApi(of(side)));
      figures[named(START, side)] = now() - since;
      figures[named(START_CPU, side)] = (await api.call('cpu', null)) / 1_000;
      figures[named(MEMORY, side)] = (await api.call('memory', null)) / MIB;
      started.push({ side, api, pages: await pagesOf(api) });
    }
    for (const { pages } of started) await pages(WARM_UP);
    for (let turn = 0; turn < turns; turn++)
      for (const { side, pages } of turn % 2 === 0 ? started : [...started].reverse()) {
        const name = named(PAGE_CPU, side);
        figures[name] = (figures[name] ?? 0) + (await pages(PAGES_A_TURN)) / (PAGES_A_TURN * turns);
      }
    for (const { side, api } of started)
      figures[named(MEMORY_AFTER, side)] = (await api.call('memory', null)) / MIB;
    return figures;
  };
}

function inTurn(round: number): readonly Side[] {
  return round % 2 === 0 ? SIDES : [...SIDES].reverse();
}

/** Milliseconds of CPU of the process for so many pages, one at a time. */
async function pagesOf(api: FanfareApi): Promise<(count: number) => Promise<number>> {
  const request = graphqlRequest(api.url, await tokenFor(READER), PAGES[FEED] ?? '');
  await expectPage(request, 25);
  return async (count) => {
    const before = await api.call('cpu', null);
    await hammer([request], { count, concurrency: 1 });
    return ((await api.call('cpu', null)) - before) / 1_000;
  };
}

/** What is left of chance in a ratio: its mean over all rounds, with the standard error. */
function meanOf(a: Series, b: Series): string {
  const ratios = a.values.map((value, round) => value / (b.values[round] ?? NaN));
  const mean = ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length;
  const squares = ratios.reduce((sum, ratio) => sum + (ratio - mean) ** 2, 0);
  const error = Math.sqrt(squares / Math.max(1, ratios.length - 1) / ratios.length);
  return `mean ${mean.toFixed(3)} ± ${error.toFixed(3)}`;
}

/** A built copy without these parts. */
async function withoutParts(folder: string): Promise<string> {
  const copy = `${folder}-without`;
  await cp(folder, copy, { recursive: true, verbatimSymlinks: true });
  await rm(join(copy, 'dist'), { recursive: true, force: true });
  const list = join(copy, 'src/app/parts.ts');
  const line = new RegExp(`^.*/parts/(?:${PARTS.join('|')})/.*\n`, 'gm');
  await writeFile(list, (await readFile(list, 'utf8')).replaceAll(line, ''));
  for (const name of PARTS) await rm(join(copy, 'parts', name), { recursive: true });
  execFileSync(process.execPath, ['scripts/build.js', '--fast', 'server'], { cwd: copy, stdio: 'ignore' });
  return copy;
}
