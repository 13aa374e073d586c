import { execFileSync } from 'node:child_process';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkOut } from '../harness/checkout.ts';
import { startApi, tokenFor, type FanfareApi, type FanfareOptions } from '../harness/fanfare.ts';
import { openInProcess } from '../harness/in-process.ts';
import { graphqlRequest } from '../harness/http-lanes.ts';
import { roundsOf, sized, type Part, type PartContext } from '../harness/part.ts';
import { atMost, type PartReport } from '../harness/report.ts';
import { alternate, figureOf, ratioFigure, seriesNamed, type Measure } from '../harness/rounds.ts';
import { now } from '../harness/statistics.ts';
import { loadActions, loadFeed, loadNames } from '../world/feed.ts';
import { FEED, measureOf, measurePage, PAGES } from '../world/other-pages.ts';
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
const MEMORY_AFTER = 'memory after pages, MiB';
const MIB = 1_048_576;
const named = (what: string, side: Side): string => `${what}, ${side}`;

/** What parts cost that are off: this commit beside itself without their folders and lines. */
export const offPart: Part = { name: 'off', run };

async function run(context: PartContext): Promise<PartReport> {
  const { environment, options, say } = context;
  const length = sized(options, { full: 1_000, short: 300, smoke: 60 });
  const count = sized(options, { full: 400, short: 300, smoke: 20 });
  const whole = checkOut('HEAD', join(environment.folder, 'off'), say);
  const checkouts = { off: whole.folder, deleted: await withoutParts(whole.folder) };
  await using world = await openRawWorld(environment, DATABASE);
  await using fanfare = await openInProcess(environment, DATABASE, { worker: false });
  await loadFeed(world, READER, await loadActions(world, fanfare, length));
  await loadNames(fanfare);
  const of = (side: Side): FanfareOptions => ({ environment, database: DATABASE, checkout: checkouts[side] });
  const starts = await alternate(
    SIDES.map((side) => startMeasure(of(side), side)),
    roundsOf(options, { full: [25, 3], short: [11, 2], smoke: [1, 0] }),
  );
  await using off = await startApi(of('off'));
  await using deleted = await startApi(of('deleted'));
  const pages = await alternate(
    [await pageMeasure(off, 'off', count), await pageMeasure(deleted, 'deleted', count)],
    roundsOf(options, { full: [25, 5], short: [11, 4], smoke: [1, 0] }),
  );
  const all = [...starts, ...pages];
  const compared = [START, START_CPU, MEMORY, measureOf(FEED, 'api'), MEMORY_AFTER];
  return {
    title: 'Parts that are off',
    about: [
      `One API process of commit ${whole.commit} with all of them off, as they are by default, and one of the same commit without the folders and lines of ${PARTS.join(', ')}, turn about. A start is from the command until it listens.`,
    ],
    figures: compared.flatMap((what) => {
      const [a, b] = SIDES.map((side) => seriesNamed(all, named(what, side)));
      if (a === undefined || b === undefined) throw new Error(`${what} was not measured`);
      return [
        ...[a, b].map((one) => figureOf(one, what.endsWith('MiB') ? 'MiB' : 'ms')),
        atMost(1.01, '×', ratioFigure(`${what}: off / deleted`, a, b)),
      ];
    }),
    raw: { commit: whole.commit, series: all },
  };
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

function startMeasure(of: FanfareOptions, side: Side): Measure {
  return async () => {
    const since = now();
    await using api = await startApi(of);
    const ms = now() - since;
    return {
      [named(START, side)]: ms,
      [named(START_CPU, side)]: (await api.call('cpu', null)) / 1_000,
      [named(MEMORY, side)]: (await api.call('memory', null)) / MIB,
    };
  };
}

async function pageMeasure(api: FanfareApi, side: Side, count: number): Promise<Measure> {
  await expectPage(graphqlRequest(api.url, await tokenFor(READER), PAGES[FEED] ?? ''), 25);
  const pages = await measurePage(FEED, { api, readers: [READER], count, side: named('', side) });
  return async (round) => ({
    ...(await pages(round)),
    [named(MEMORY_AFTER, side)]: (await api.call('memory', null)) / MIB,
  });
}
