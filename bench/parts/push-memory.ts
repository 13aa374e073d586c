import { startChild, type Child } from '../harness/child.ts';
import { startApi, startWorker, tokenFor, type FanfareApi } from '../harness/fanfare.ts';
import { graphqlRequest, Lane, readAnswer } from '../harness/http-lanes.ts';
import { judge, type Figure, type PartReport } from '../harness/report.ts';
import {
  alternate,
  ratioOf,
  seriesNamed,
  summaryOf,
  type Contender,
  type Series,
} from '../harness/rounds.ts';
import { now, quantile } from '../harness/statistics.ts';
import { WATCH } from '../harness/watcher.ts';
import type { Memory, ProbeApi } from '../programs/probe.ts';
import type { PushClientApi, Subscriber } from '../programs/push-client.ts';
import { ratingInput } from '../world/actions.ts';
import { loadFollowers, readerId } from '../world/people.ts';
import { PUBLISH } from '../world/queries.ts';
import { openRawWorld } from '../world/raw.ts';
import { roundsOf, sized, type Part, type PartContext } from './part.ts';

const DATABASE = 'bench_memory';
const FANFARE = 'Fanfare';
const BARE = 'bare graphql-ws';
/** As long as what Fanfare is asked: graphql-ws keeps the message of a subscription as it came. */
const BARE_QUERY = 'subscription { idle }'.padEnd(WATCH.length);
const REF = 'site-of-everybody';
const ACTIONS = 3;
/** Sockets that are opened before the first look, so that what is made once is not counted for each. */
const WARM_UP = 200;
/** Those by which is published and measured. */
const OTHER_CONNECTIONS = 100;

interface PerSubscriber {
  readonly rss: number;
  readonly heap: number;
}

/** Memory of a server per subscriber that is connected, subscribed and told nothing. */
export const pushMemoryPart: Part = { name: 'push-memory', run };

async function run(context: PartContext): Promise<PartReport> {
  const { environment, options } = context;
  const subscribers = sized(options, { full: 10_000, short: 4_000, smoke: 1_000 });
  const heaps = new Map<string, number[]>([FANFARE, BARE].map((name) => [name, []]));
  const last: number[] = [];
  await using world = await openRawWorld(environment, DATABASE);
  await loadFollowers(world.follows, REF, WARM_UP + subscribers);
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
        const env = { MAX_CONNECTIONS: String(tokens.length + OTHER_CONNECTIONS) };
        await using api = await startApi({ environment, database: DATABASE, profileDir: null, env });
        const all = tokens.map((token) => ({ url: api.wsUrl, token, query: WATCH }));
        return await perSubscriber(api, all, async (client) => {
          last.push(await lastReceipt({ context, api, client, subscribers: all.length }));
        });
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
  const heap = [...heaps].map(([name, values]) => ({ name, values }));
  return report({ subscribers, rss: series, heap, last: { name: 'last receipt', values: last } });
}

interface Measured {
  readonly subscribers: number;
  readonly rss: readonly Series[];
  readonly heap: readonly Series[];
  /** Seconds until the last one has an action. */
  readonly last: Series;
}

function report({ subscribers, rss, heap, last }: Measured): PartReport {
  const everybody = String(subscribers + WARM_UP);
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
      'Afterwards one action is published that all of them follow: from the call of the mutation to the last receipt.',
    ],
    figures: all,
    verdicts: [
      judge('memory', ratio(rss, 'resident'), subscribers),
      judge('memory', ratio(heap, 'heap and buffers'), subscribers),
      judge(
        'reachMany',
        { name: `one action to ${everybody} subscribers, last receipt`, unit: 's', summary: summaryOf(last) },
        subscribers,
      ),
    ],
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
    raw: { subscribers, rss, heap, last },
  };
}

interface Reach {
  readonly context: PartContext;
  readonly api: FanfareApi;
  readonly client: Child<PushClientApi>;
  readonly subscribers: number;
}

/** Seconds from publishing to the last receipt of three actions, one after the other: the middle one. */
async function lastReceipt({ context, api, client, subscribers }: Reach): Promise<number> {
  const { environment } = context;
  await using _worker = await startWorker({ environment, database: DATABASE, profileDir: null });
  const token = await tokenFor('publisher', ['service']);
  const { hostname, port } = new URL(api.url);
  using lane = await Lane.open({ host: hostname, port: Number(port) });
  const times: number[] = [];
  for (let index = 0; index < ACTIONS; index += 1) {
    await client.call('forget', null);
    const from = now();
    const { body } = readAnswer(
      await lane.send(graphqlRequest(api.url, token, PUBLISH, { input: ratingInput(index, [{ id: REF }]) })),
    );
    if (body.includes('"errors"')) throw new Error(`Not published: ${body.slice(0, 500)}`);
    await client.call('received', subscribers);
    const receipts = await client.call('receipts', null);
    times.push((Math.max(...receipts.map(({ at }) => Math.max(...at))) - from) / 1_000);
  }
  return quantile(times, 0.5);
}

/** Without code: what is compiled while sockets are opened belongs to none of them. */
function inUse({ heapUsed, external, code }: Memory): number {
  return heapUsed + external - code;
}

/** KiB for each subscriber after the warm-up. */
async function perSubscriber(
  server: Child<ProbeApi>,
  subscribers: readonly Subscriber[],
  afterwards: (client: Child<PushClientApi>) => Promise<void> = () => Promise.resolve(),
): Promise<PerSubscriber> {
  await using client = startChild<PushClientApi>({ program: 'bench/programs/push-client.ts' });
  await client.call('connect', subscribers.slice(0, WARM_UP));
  const before = await server.call('memory', null);
  await client.call('connect', subscribers.slice(WARM_UP));
  const after = await server.call('memory', null);
  await afterwards(client);
  const count = subscribers.length - WARM_UP;
  const kib = (bytes: number): number => bytes / 1_024 / count;
  return {
    rss: kib(after.rss - before.rss),
    heap: kib(inUse(after) - inUse(before)),
  };
}
