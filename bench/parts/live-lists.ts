import { Closer } from '../../src/lib/closer.ts';
import { tokenFor } from '../harness/fanfare.ts';
import { graphqlRequest, LanePool } from '../harness/http-lanes.ts';
import { openLoop } from '../harness/open-loop.ts';
import { roundsOf, sized, type Part, type PartContext } from '../harness/part.ts';
import { atMost, type PartReport } from '../harness/report.ts';
import { alternate, figureOf, ratioFigure, seriesNamed } from '../harness/rounds.ts';
import { now, once, quantile } from '../harness/statistics.ts';
import { SHOWN_ACTION } from '../harness/watcher.ts';
import { readerId } from '../world/people.ts';
import { openFanfare, openSockets, WATCHED_REF, type PushingFanfare } from '../world/pushing.ts';
import { INTERACT } from '../world/queries.ts';

/** Watchers of slices and of a thread. */
export const liveListsPart: Part = { name: 'live-lists', run };

const SLICE = `subscription Slice($after: String) {
  sliceEvents(refId: "${WATCHED_REF}", after: $after) { __typename ... on ActionAdded { action { ${SHOWN_ACTION} } cursor } ... on SliceReady { cursor } }
}`;
const threadOf = (actionId: string): string =>
  `subscription Thread($after: String) { actionEvents(actionId: "${actionId}", after: $after) { __typename ... on InteractionAdded { cursor interaction { id text } } ... on ActionReady { cursor } } }`;

const LAST = 'one action to all watchers of a slice, last receipt';
const [BESIDE, ALONE] = ['publish → socket p99 beside a busy thread', 'publish → socket p99'];
/** Readers who watch their feeds. */
const FEEDS = 50;
const COMMENTS_A_MINUTE = 1_000;
const KIB = 1_024;

async function run(context: PartContext): Promise<PartReport> {
  const { options, say } = context;
  const watchers = sized(options, { full: 10_000, short: 10_000, smoke: 50 });
  const inThread = sized(options, { full: 1_000, short: 1_000, smoke: 20 });
  await using closer = new Closer();
  const fanfare = await openFanfare(context, closer, {
    ...{ database: 'bench_live_lists', followers: FEEDS, watching: FEEDS },
    ...{ connections: watchers + inThread, isPublic: true },
  });
  await fanfare.sample();
  const before = await fanfare.api.call('memory', null);
  const slice = await openSockets(
    closer,
    await Promise.all(
      Array.from({ length: watchers }, async (_, index) => ({
        ...{ url: fanfare.api.wsUrl, query: SLICE, token: await tokenFor(readerId(index)) },
      })),
    ),
  );
  const bytes = ((await fanfare.api.call('memory', null)) - before) / watchers;
  say(`${String(watchers)} watch a slice`);
  const rounds = roundsOf(options, { full: [5, 1], short: [3, 1], smoke: [1, 0] });
  const [last] = await alternate([() => lastReceipt(fanfare, slice, watchers)], rounds);
  await slice[Symbol.asyncDispose]();
  const thread = await openThread(closer, fanfare, inThread);
  say(`${String(inThread)} watch a thread`);
  const series = await alternate(
    [
      async () => ({ [ALONE]: await p99(context, fanfare) }),
      async () => ({ [BESIDE]: await p99(context, fanfare, thread.comment) }),
    ],
    rounds,
  );
  if (last === undefined) throw new Error('Nothing was measured');
  const [alone, beside] = [seriesNamed(series, ALONE), seriesNamed(series, BESIDE)];
  return {
    title: 'Live slices and threads',
    about: [
      `${String(watchers)} sockets watch one slice in one process, each of another reader: milliseconds from the call that publishes to the last receipt, and how much memory of the process the sockets and watchers take. Then ${String(inThread)} watch a thread with ${String(COMMENTS_A_MINUTE)} comments a minute, while ${String(FEEDS)} readers watch their feeds and five actions a second are published to them.`,
    ],
    figures: [
      atMost(1_000, 'ms', figureOf(last, 'ms')),
      atMost(25, 'KiB', {
        name: 'memory of a watcher, with its socket',
        unit: 'KiB',
        summary: once(bytes / KIB, 'memory'),
      }),
      figureOf(alone, 'ms'),
      atMost(1.5, '× without', ratioFigure(`${BESIDE} / without`, beside, alone)),
    ],
    raw: { watchers, inThread, bytes, series: [last, ...series] },
  };
}

type Sockets = Awaited<ReturnType<typeof openSockets>>;

async function lastReceipt(fanfare: PushingFanfare, slice: Sockets, watchers: number) {
  await slice.call('forget', null);
  const from = now();
  await fanfare.publishOne();
  await slice.call('received', watchers);
  const { added } = await slice.call('seen', null);
  return { [LAST]: Math.max(...added.flatMap(({ at }) => at)) - from };
}

async function openThread(closer: Closer, { api, publishOne }: PushingFanfare, watching: number) {
  const actionId = await publishOne();
  const token = await tokenFor('commenter', ['service']);
  const pool = closer.own(new LanePool(api.url, 20));
  await openSockets(
    closer,
    await Promise.all(
      Array.from({ length: watching }, async (_, index) => ({
        ...{ url: api.wsUrl, query: threadOf(actionId), token: await tokenFor(readerId(index)) },
      })),
    ),
  );
  let said = 0;
  const comment = (): Promise<string> => {
    said += 1;
    const input = {
      actionId,
      kind: 'COMMENT',
      text: `Comment ${String(said)}`,
      actorId: readerId(said % watching),
    };
    return pool.ask(graphqlRequest(api.url, token, INTERACT, { input }));
  };
  return { comment };
}

/** Milliseconds from a publication to its receipt by readers who watch their feeds. */
async function p99(
  { options }: PartContext,
  { client, publishOne }: PushingFanfare,
  comment?: () => Promise<unknown>,
) {
  const sent = new Map<string, number>();
  const publish = async (): Promise<void> => {
    const at = now();
    sent.set(await publishOne(), at);
  };
  const [publications, comments] = [5, comment === undefined ? 0 : COMMENTS_A_MINUTE / 60];
  await client.call('forget', null);
  const { isOverrun, firstFailure } = await openLoop({
    shares: [
      { share: publications, turns: [{ name: 'publish', run: publish }] },
      ...(comment === undefined ? [] : [{ share: comments, turns: [{ name: 'comment', run: comment }] }]),
    ],
    ...{ rate: publications + comments, maxOpen: 1_000, random: Math.random },
    seconds: sized(options, { full: 20, short: 10, smoke: 1 }),
  });
  if (isOverrun || firstFailure !== null) throw new Error(firstFailure ?? 'Too many were waiting');
  await client.call('received', sent.size * FEEDS);
  const { added } = await client.call('seen', null);
  return quantile(
    added.flatMap(({ action, at }) => at.map((time) => time - (sent.get(action) ?? NaN))),
    0.99,
  );
}
