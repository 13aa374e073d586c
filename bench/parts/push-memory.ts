import { startChild, type Child } from '../harness/child.ts';
import { startApi, tokenFor } from '../harness/fanfare.ts';
import { judge, type Figure, type PartReport } from '../harness/report.ts';
import {
  alternate,
  ratioOf,
  seriesNamed,
  summaryOf,
  type Contender,
  type Series,
} from '../harness/rounds.ts';
import { WATCH } from '../harness/watcher.ts';
import type { Memory, ProbeApi } from '../programs/probe.ts';
import type { PushClientApi, Subscriber } from '../programs/push-client.ts';
import { readerId } from '../world/people.ts';
import { roundsOf, sized, type Part, type PartContext } from './part.ts';

const DATABASE = 'bench_memory';
const FANFARE = 'Fanfare';
const BARE = 'bare graphql-ws';
/** As long as what Fanfare is asked: graphql-ws keeps the message of a subscription as it came. */
const BARE_QUERY = 'subscription { idle }'.padEnd(WATCH.length);
/** Sockets that are opened before the first look, so that what is made once is not counted for each. */
const WARM_UP = 200;

interface PerSubscriber {
  readonly rss: number;
  readonly heap: number;
}

/** Memory of a server per subscriber that is connected, subscribed and told nothing. */
export const pushMemoryPart: Part = { name: 'push-memory', run };

async function run(context: PartContext): Promise<PartReport> {
  const { environment, options } = context;
  const subscribers = sized(options, { full: 4_000, short: 2_000, smoke: 1_000 });
  const heaps = new Map<string, number[]>([FANFARE, BARE].map((name) => [name, []]));
  const contender = (name: string, measure: () => Promise<PerSubscriber>): Contender => ({
    name,
    measure: async () => {
      const { rss, heap } = await measure();
      heaps.get(name)?.push(heap);
      return rss;
    },
  });
  const tokens = await Promise.all(
    Array.from({ length: WARM_UP + subscribers }, (_, index) => tokenFor(readerId(index))),
  );
  const series = await alternate(
    [
      contender(FANFARE, async () => {
        await using api = await startApi({ environment, database: DATABASE, profileDir: null });
        return await perSubscriber(
          api,
          tokens.map((token) => ({ url: api.wsUrl, token, query: WATCH })),
        );
      }),
      contender(BARE, async () => {
        await using server = startChild<ProbeApi>({ program: 'bench/programs/bare-graphql-ws.ts' });
        const [, url = ''] = await server.line(/Sockets (ws:\/\/\S+)/);
        return await perSubscriber(
          server,
          tokens.map((token) => ({ url: `${url}/graphql`, token, query: BARE_QUERY })),
        );
      }),
    ],
    { rounds: roundsOf(options, { full: 3, short: 2, smoke: 1 }), warmUp: 0 },
  );
  await environment.driver.db(DATABASE).dropDatabase();
  const heap = [...heaps].map(([name, values]) => ({ name, values }));
  return report(subscribers, series, heap);
}

function report(subscribers: number, rss: readonly Series[], heap: readonly Series[]): PartReport {
  const figures = (list: readonly Series[], what: string): Figure[] =>
    list.map((entry) => ({ name: `${entry.name}, ${what}`, unit: 'KiB', summary: summaryOf(entry) }));
  const all = [...figures(rss, 'resident'), ...figures(heap, 'heap and buffers')];
  const ratio = (list: readonly Series[], what: string): Figure => ({
    name: `memory per subscriber / bare graphql-ws, ${what}`,
    unit: '×',
    summary: ratioOf(seriesNamed(list, FANFARE), seriesNamed(list, BARE)),
  });
  return {
    title: 'Memory per idle subscriber',
    about: [
      `What ${String(subscribers)} further sockets add to a server that has ${String(WARM_UP)}, after full collections of garbage, divided by their number. One subscription each, every subscriber a different reader. Both servers are sent messages of the same length, with a token.`,
      'Resident: as the system counts the process. Heap and buffers: what is in use, without the code of functions and what the process keeps for later. Each round has fresh processes.',
    ],
    figures: all,
    verdicts: [judge('memory', ratio(rss, 'resident')), judge('memory', ratio(heap, 'heap and buffers'))],
    charts: [
      {
        kind: 'bars',
        name: 'push-memory',
        title: 'Memory per idle subscriber',
        unit: 'KiB',
        bars: all.map(({ name, summary: { median, min, max } }) => ({
          label: name,
          value: median,
          min,
          max,
        })),
      },
    ],
    raw: { subscribers, rss, heap },
  };
}

/** Without code: what is compiled while sockets are opened belongs to none of them. */
function inUse({ heapUsed, external, code }: Memory): number {
  return heapUsed + external - code;
}

/** KiB for each subscriber after the warm-up. */
async function perSubscriber(
  server: Child<ProbeApi>,
  subscribers: readonly Subscriber[],
): Promise<PerSubscriber> {
  await using client = startChild<PushClientApi>({ program: 'bench/programs/push-client.ts' });
  await client.call('connect', subscribers.slice(0, WARM_UP));
  const before = await server.call('memory', null);
  await client.call('connect', subscribers.slice(WARM_UP));
  const after = await server.call('memory', null);
  const count = subscribers.length - WARM_UP;
  const kib = (bytes: number): number => bytes / 1_024 / count;
  return {
    rss: kib(after.rss - before.rss),
    heap: kib(inUse(after) - inUse(before)),
  };
}
