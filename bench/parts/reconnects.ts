import { setTimeout } from 'node:timers/promises';
import { Closer } from '../../src/lib/closer.ts';
import { roundsOf, sized, type Part, type PartContext } from '../harness/part.ts';
import { atMost, type Figure, type PartReport } from '../harness/report.ts';
import { alternate, besides, figureOf, seriesNamed, type Series } from '../harness/rounds.ts';
import { now, timed } from '../harness/statistics.ts';
import { openFanfare, openGraphql, USUAL, type PushingFanfare } from '../world/pushing.ts';

/** Actions that are published while nobody is connected, and while everybody comes back. */
const MISSED = 3;
const LOOK_EVERY_MS = 50;
const SUBSCRIBED = 'Fanfare, all subscribed again';
const COMPLETE = 'Fanfare, all have everything';
const RESYNCS = 'sockets that had to query their feed again';
const HEALTH = 'Fanfare, slowest answer of /health meanwhile';
const TO_ALL = 'Fanfare, one action to all, last receipt';
const MEMORY = 'Fanfare, memory of the API process';
const BESIDE = USUAL.graphql;

/** All sockets are dropped at once and come back with their cursors while actions are published. */
export const reconnectsPart: Part = { name: 'reconnects', run };

interface Reconnects {
  readonly sockets: number;
  /** Seconds, milliseconds of /health, and sockets that were told to query their feed again. */
  readonly series: readonly Series[];
}

async function run(context: PartContext): Promise<PartReport> {
  const { options, say } = context;
  const all: Reconnects[] = [];
  for (const sockets of sized(options, { full: [2_000, 10_000, 25_000], short: [10_000], smoke: [20] })) {
    say(`${String(sockets)} sockets`);
    all.push(await withSockets(context, sockets));
  }
  return {
    title: 'Everybody comes back',
    about: [
      `All sockets are dropped at once and come back, 50 at a time, each with the cursor of the last event it saw. One action for all of them is published before, ${String(MISSED - 1)} meanwhile; every socket must get each of them once. Beside it the same number of sockets of a usual server, which neither keeps what they miss nor checks who they are.`,
    ],
    figures: all.flatMap(figuresOf),
    raw: { all },
  };
}

async function withSockets(context: PartContext, sockets: number): Promise<Reconnects> {
  const { options } = context;
  await using closer = new Closer();
  const fanfare = await openFanfare(context, closer, {
    ...{ database: `bench_reconnects_${String(sockets)}`, followers: sockets, watching: sockets },
  });
  // What it would miss it does not even keep.
  const usual = await openGraphql(context, closer, { subscribers: sockets, sample: await fanfare.sample() });
  const series = await alternate(
    [
      () => oneToAll(fanfare, sockets),
      () => reconnect(fanfare, sockets),
      async () => {
        await usual.client.call('drop', null);
        return { [BESIDE]: (await timed(() => usual.client.call('reopen', null))) / 1_000 };
      },
    ],
    roundsOf(options, { full: [3, 1], short: [2, 1], smoke: [1, 1] }),
  );
  return { sockets, series };
}

/** To sockets that have been idle. */
async function oneToAll({ client, publish, api }: PushingFanfare, sockets: number) {
  await client.call('forget', null);
  const from = await publish(1);
  await client.call('received', sockets);
  return {
    [TO_ALL]: (now() - from) / 1_000,
    [MEMORY]: (await api.call('memory', null)) / 2 ** 20,
  };
}

/** @throws Error unless every socket gets each of the actions once. */
async function reconnect({ client, publish, api }: PushingFanfare, sockets: number) {
  await client.call('forget', null);
  await client.call('drop', null);
  const from = now();
  const stopping = new AbortController();
  const watching = slowestHealth(api.url, stopping.signal);
  await publish(1);
  const received = client.call('received', MISSED * sockets);
  // It is awaited below; until then what it rejects with is not unhandled.
  received.catch(() => undefined);
  const reopened = client.call('reopen', null).then(() => now());
  for (let action = 1; action < MISSED; action += 1) await publish(1);
  const subscribed = ((await reopened) - from) / 1_000;
  await received;
  const complete = (now() - from) / 1_000;
  stopping.abort();
  const { others } = await client.call('seen', null);
  return {
    [SUBSCRIBED]: subscribed,
    [COMPLETE]: complete,
    [HEALTH]: await watching,
    [RESYNCS]: others['FeedResync'] ?? 0,
  };
}

/** Milliseconds of the slowest answer until it is stopped. */
async function slowestHealth(url: string, stopping: AbortSignal): Promise<number> {
  let slowest = 0;
  while (!stopping.aborted) {
    slowest = Math.max(
      slowest,
      await timed(async () => {
        const answer = await fetch(`${url}/health`);
        await answer.text();
        if (!answer.ok) throw new Error(`/health answered ${String(answer.status)}`);
      }),
    );
    await setTimeout(LOOK_EVERY_MS);
  }
  return slowest;
}

function figuresOf({ sockets, series }: Reconnects): Figure[] {
  const at = `${String(sockets)} sockets`;
  const of = (name: string): Series => seriesNamed(series, name);
  const named = (name: string, unit: string): Figure =>
    figureOf({ ...of(name), name: `${at}: ${name}` }, unit);
  const resyncs = of(RESYNCS).values.reduce((sum, value) => sum + value, 0);
  const beside = besides(`${at}: ${COMPLETE}`, 's', of(COMPLETE), of(BESIDE));
  const complete = { ...beside, note: `${String(resyncs)} ${RESYNCS}; ${beside.note ?? ''}` };
  return [
    sockets < 10_000 ? complete : atMost(10, 's', complete),
    atMost(200, 'ms', named(HEALTH, 'ms')),
    atMost(3, 's', named(TO_ALL, 's')),
    atMost(4_096, 'MiB', named(MEMORY, 'MiB')),
  ];
}
