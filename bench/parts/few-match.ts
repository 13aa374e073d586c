import { startApi, tokenFor } from '../harness/fanfare.ts';
import { graphqlRequest, hammer, type WireRequest } from '../harness/http-lanes.ts';
import { openInProcess, type InProcess } from '../harness/in-process.ts';
import { roundsOf, sized, type Part, type PartContext } from '../harness/part.ts';
import { cpuByKind } from '../harness/process-usage.ts';
import { atMost, type PartReport } from '../harness/report.ts';
import { alternate, figureOf, ratioFigure, seriesNamed, type Measure } from '../harness/rounds.ts';
import { quantile } from '../harness/statistics.ts';
import { type Asked, FEW, loadFewMatch, loadManyFollows, MANY, PLAIN, readerOf } from '../world/few-match.ts';
import { FULL, FULL_SIZES, fullReaderOf, loadFullReaders } from '../world/full-reader.ts';
import { expectAnswer } from '../world/pages.ts';
import { openRawWorld, type RawWorld } from '../world/raw.ts';

/** What few of many match may cost so many times what a page of a plain reader costs. */
const MOST = 3;

/** Pages and counts of readers who muted, blocked, archived or filter nearly everything. */
export const fewMatchPart: Part = { name: 'few-match', run: runFewMatch };

/** Pages and counts of readers who follow very many things. */
export const manyFollowsPart: Part = { name: 'many-follows', run: runManyFollows };

/** Pages and counts of readers who have as much of everything as limits allow, beside those of a reader who has done nothing. */
export const fullReaderPart: Part = { name: 'full-reader', run: runFullReader };

const DAY_MS = 86_400_000;

async function runManyFollows(context: PartContext): Promise<PartReport> {
  const { options } = context;
  const follows = sized(options, { full: 10_000, short: 5_000, smoke: 100 });
  const length = sized(options, { full: 100_000, short: 17_000, smoke: 120 });
  const parts = [];
  for (const [span, ms] of [
    ['a minute', 60_000],
    ['a year', 365 * DAY_MS],
  ] as const)
    parts.push(
      await measureReaders(context, {
        name: `many_follows_${span.replace(' ', '_')}`,
        title: `${String(length)} actions in ${span}`,
        asked: MANY,
        load: (world, fanfare) => loadManyFollows(world, fanfare, { follows, length, ms }),
        userOf: (reader) => reader,
      }),
    );
  return {
    title: 'Many follows',
    about: [
      `A reader follows ${String(follows)} things with ${String(length)} actions, 7 of 8 of them on fifty of these; the newest 1,000 are stored. The plain reader follows twenty of the fifty. Each is asked for a third time and later, one at a time; CPU is that of all processes.`,
    ],
    figures: parts.flatMap(({ figures }) => figures),
    raw: { follows, length, series: parts.map(({ series }) => series) },
  };
}

async function runFewMatch(context: PartContext): Promise<PartReport> {
  const { options } = context;
  const lengths = sized(options, { full: [6_000, 100_000], short: [6_000], smoke: [120] });
  const parts = [];
  for (const length of lengths)
    parts.push(
      await measureReaders(context, {
        name: `few_match_${String(length)}`,
        title: `${String(length)} actions`,
        asked: FEW,
        load: (world, fanfare) => loadFewMatch(world, fanfare, length),
        userOf: readerOf,
      }),
    );
  return {
    title: 'Few of many',
    about: [
      `Readers follow one thing with ${lengths.map(String).join(' and ')} actions, of which one in 400 is unlike the others; the newest 1,000 of each feed are stored. They have muted or blocked what all others have in common, archived all but five, or filter for what is rare. A page has 25 items, or as many as there are. Each is asked for a third time and later, one at a time; CPU is that of all processes.`,
    ],
    figures: parts.flatMap(({ figures }) => figures),
    raw: { lengths, series: parts.map(({ series }) => series) },
  };
}

async function runFullReader(context: PartContext): Promise<PartReport> {
  const sizes = sized(context.options, FULL_SIZES);
  const { figures, series } = await measureReaders(context, {
    name: 'full_reader',
    title: `${String(sizes.length)} items`,
    asked: FULL,
    load: (world, fanfare) => loadFullReaders(world, fanfare, sizes),
    userOf: fullReaderOf,
  });
  const saidOf = (of: Readonly<Record<string, number>>): string =>
    Object.entries(of)
      .map(([what, count]) => `${String(count)} ${what}`)
      .join(', ');
  return {
    title: 'As much of everything as limits allow',
    about: [
      `Three readers of the same ${String(sizes.length)} actions of twenty things. One has done nothing; one has much: ${saidOf(sizes.much)}; one as much as there may be: ${saidOf(sizes.most)}. Each is asked for a third time and later, one at a time, and compared with the same of the first one; CPU is that of all processes.`,
    ],
    figures,
    raw: { sizes, series },
  };
}

interface Measured<R extends string> {
  readonly name: string;
  readonly title: string;
  /** Or what is made of answers of the server, such as cursors. */
  readonly asked: Asked<R> | ((ask: (reader: R, query: string) => Promise<string>) => Promise<Asked<R>>);
  readonly load: (world: RawWorld, fanfare: InProcess) => Promise<void>;
  readonly userOf: (reader: R) => string;
  /** Further settings of the server. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Pages and counts of several readers, each beside another: latency and CPU of all processes. */
export async function measureReaders<R extends string>(
  { environment, options, say }: PartContext,
  { name: ofWorld, title, asked: given, load, userOf, env }: Measured<R>,
) {
  const database = `bench_${ofWorld}`;
  await using world = await openRawWorld(environment, database);
  {
    await using fanfare = await openInProcess(environment, database, { worker: false });
    await load(world, fanfare);
  }
  await using api = await startApi({ environment, database, env });
  say(`${title} are there`);
  const requestOf = async (reader: R, query: string): Promise<WireRequest> =>
    graphqlRequest(api.url, await tokenFor(userOf(reader)), query);
  const asked =
    typeof given === 'function'
      ? await given(async (reader, query) => expectAnswer(await requestOf(reader, query)))
      : given;
  const count = sized(options, { full: 7, short: 7, smoke: 1 });
  const kinds = new Map([[process.pid, 'benchmark']]);
  const cpu = (): number =>
    [...cpuByKind(kinds)].reduce((sum, [kind, used]) => sum + (kind === 'benchmark' ? 0 : used), 0);
  const measureOf =
    (name: string, request: WireRequest): Measure =>
    async () => {
      const before = cpu();
      const { latencies } = await hammer(request, { count, concurrency: 1 });
      return {
        [`${name}: p50`]: quantile(latencies, 0.5),
        [`${name}: CPU`]: ((cpu() - before) * 1_000) / count,
      };
    };
  const measures: Measure[] = [];
  for (const [name, [reader, query]] of Object.entries(asked)) {
    const request = await requestOf(reader, query);
    for (let time = 0; time < 2; time += 1) await expectAnswer(request);
    measures.push(measureOf(name, request));
  }
  const series = await alternate(measures, roundsOf(options, { full: [3, 0], short: [2, 0], smoke: [1, 0] }));
  const of = (name: string) => seriesNamed(series, name);
  const figures = Object.entries(asked).flatMap(([name, [, , beside = PLAIN, most = MOST]]) =>
    ['p50', 'CPU'].map((what) => {
      const own = of(`${name}: ${what}`);
      const figure = `${title}, ${name}: ${what}`;
      if (name === beside) return { ...figureOf(own, 'ms'), name: figure };
      return atMost(most, `× ${beside}`, ratioFigure(figure, own, of(`${beside}: ${what}`)));
    }),
  );
  return { figures, series };
}
