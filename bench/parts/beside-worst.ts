import { startApi, tokenFor } from '../harness/fanfare.ts';
import { graphqlRequest, Lane, LanePool, readAnswer, type WireRequest } from '../harness/http-lanes.ts';
import { openInProcess } from '../harness/in-process.ts';
import { openLoop } from '../harness/open-loop.ts';
import { roundsOf, sized, type Part, type PartContext } from '../harness/part.ts';
import { seededRandom } from '../harness/random.ts';
import { atMost, type PartReport } from '../harness/report.ts';
import { alternate, figureOf, ratioFigure, seriesNamed, type Measure } from '../harness/rounds.ts';
import { FULL_SIZES, fullReaderOf, loadFullReaders } from '../world/full-reader.ts';
import { expectPage } from '../world/pages.ts';
import { SHOWN_NODE } from '../world/queries.ts';
import { openRawWorld } from '../world/raw.ts';
import { WORST } from '../world/worst-operations.ts';

const DATABASE = 'bench_beside_worst';
const ALIASES = 100;
/** Pages a second of the other reader. */
const RATE = 20;
/** What its 99 of 100 may take, of what they take when nobody else asks. */
const MOST = 3;
const PAGE = `{ feed { edges { cursor node { ${SHOWN_NODE} } } pageInfo { hasNextPage endCursor } } }`;
const IDLE = 'nothing';
const LANES = 10;

/** Pages of a reader while another sends the most expensive operations that the limits allow, one after the other. */
export const besideWorstPart: Part = { name: 'beside-worst', run };

async function run({ environment, options, say }: PartContext): Promise<PartReport> {
  await using world = await openRawWorld(environment, DATABASE);
  {
    await using fanfare = await openInProcess(environment, DATABASE, { worker: false });
    await loadFullReaders(world, fanfare, sized(options, FULL_SIZES));
  }
  await using api = await startApi({ environment, database: DATABASE });
  const token = await tokenFor(fullReaderOf('most'));
  const page = graphqlRequest(api.url, await tokenFor(fullReaderOf('plain')), PAGE);
  await expectPage(page, 25);
  const seconds = sized(options, { full: 20, short: 10, smoke: 0.5 });
  const measures: Measure[] = [() => pages(IDLE, page, seconds)];
  for (const [name, queryOf] of Object.entries(WORST)) {
    const { request, count } = await mostOf((aliases) => graphqlRequest(api.url, token, queryOf(aliases)));
    say(`${name}: ${String(count)} aliases`);
    measures.push(async () => {
      const over = new AbortController();
      const sending = sendUntil(over.signal, request);
      try {
        return await pages(name, page, seconds);
      } finally {
        over.abort();
        await sending;
      }
    });
  }
  const series = await alternate(measures, roundsOf(options, { full: [3, 1], short: [2, 0], smoke: [1, 0] }));
  const idle = seriesNamed(series, p99Of(IDLE));
  return {
    title: 'Pages beside the most expensive operations',
    about: [
      `A reader asks for ${String(RATE)} pages a second. Another, who has as much of everything as there may be, sends one operation after the other: as many aliases as the limits allow, at most ${String(ALIASES)}.`,
    ],
    figures: [
      figureOf(idle, 'ms'),
      ...Object.keys(WORST).map((name) =>
        atMost(MOST, '× idle', ratioFigure(`p99 beside ${name}`, seriesNamed(series, p99Of(name)), idle)),
      ),
    ],
    raw: { series },
  };
}

const p99Of = (beside: string): string => `p99 of a page beside ${beside}`;

async function pages(beside: string, page: WireRequest, seconds: number): Promise<Record<string, number>> {
  await using pool = new LanePool(`http://${page.host}:${String(page.port)}`, LANES);
  const { all, failed, firstFailure } = await openLoop({
    shares: [{ share: 1, turns: [{ name: 'page', run: () => pool.send(page) }] }],
    ...{ rate: RATE, seconds, maxOpen: 2_000, random: seededRandom(1) },
  });
  if (failed > 0) throw new Error(`${String(failed)} pages failed: ${String(firstFailure)}`);
  return { [p99Of(beside)]: all.p99 };
}

/** The operation with as many aliases as are taken. */
async function mostOf(
  requestOf: (aliases: number) => WireRequest,
): Promise<{ readonly request: WireRequest; readonly count: number }> {
  for (let count = ALIASES; count > 1; count = Math.floor(count * 0.8)) {
    const request = requestOf(count);
    using lane = await Lane.open(request);
    const { status } = readAnswer(await lane.send(request));
    if (status === 200) return { request, count };
  }
  throw new Error('Not even a single one is taken');
}

async function sendUntil(signal: AbortSignal, request: WireRequest): Promise<void> {
  using lane = await Lane.open(request);
  while (!signal.aborted) await lane.send(request);
}
