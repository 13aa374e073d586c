import { randomUUID } from 'node:crypto';
import { encodeActionId } from '../../src/domain/node-ids.ts';
import { tokenFor, type FanfareApi } from '../harness/fanfare.ts';
import { graphqlRequest, hammer, type WireRequest } from '../harness/http-lanes.ts';
import { cpuByKind } from '../harness/process-usage.ts';
import type { Measure } from '../harness/rounds.ts';
import { untilDone } from '../harness/statistics.ts';
import { ratingInput } from './actions.ts';
import { expectPage } from './pages.ts';
import { readerId } from './people.ts';
import { BOOKMARK, FOLLOW, FOLLOW_MANY, INTERACT, PUBLISH, PUBLISH_MANY } from './queries.ts';
import { openFanOuts, type RawWorld } from './raw.ts';

/** Readers of each action. */
const READERS_EACH = 10;
const AT_ONCE = 20;
/** Of one publication of many. */
const MOST_INPUTS = 50;

type Fields = Readonly<Record<string, unknown>>;

/** An action, a ref that the reader does not follow yet, and one with ten followers. */
type On = Readonly<Record<'actionId' | 'newRef' | 'readRef', string>>;

/** What is written all day. */
const WRITES: Readonly<Record<string, (on: On) => readonly [string, Fields]>> = {
  follow: ({ newRef }) => [FOLLOW, { refId: newRef }],
  like: ({ actionId }) => [INTERACT, { input: { actionId, kind: 'LIKE' } }],
  comment: ({ actionId }) => [INTERACT, { input: { actionId, kind: 'COMMENT', text: 'Well said.' } }],
  bookmark: ({ actionId }) => [BOOKMARK, { actionId }],
  publish: ({ readRef }) => [
    PUBLISH,
    { input: ratingInput(0, [{ id: readRef }], { idempotencyKey: randomUUID() }) },
  ],
};

/** The writes a second to be reached, as a multiple of the commit before. */
export const WRITES_FASTER = Object.fromEntries(
  ['follow', 'like', 'comment', 'bookmark'].map((write) => [rateOfWrites(write), 2.5]),
);

function rateOfWrites(write: string): string {
  return `${write}: answers/s, 20 at a time`;
}

/**
 * As many of each as there are readers, each by another reader and with another action: answers a second, and CPU of all
 * processes until all is done that follows from them. An action has ten readers; what is followed has ten actions.
 */
export async function measureSmallWrites(
  world: Pick<RawWorld, 'actions'>,
  of: { readonly api: FanfareApi; readonly count: number; readonly side: string },
): Promise<readonly Measure[]> {
  const { api, count, side } = of;
  const host = await tokenFor('host', ['service']);
  const ask = (query: string, variables: Fields): Promise<number> =>
    expectPage(graphqlRequest(api.url, host, query, variables), 0);
  const indexes = Array.from({ length: count }, (_, index) => index);
  const groups = count / READERS_EACH;
  const nameOf = (kind: 'read' | 'new', index: number): string => `${kind}-${String(index % groups)}`;
  await ask(FOLLOW_MANY, {
    pairs: indexes.map((index) => ({ followerId: readerId(index), refId: nameOf('read', index) })),
  });
  for (const kind of ['new', 'read', 'read'] as const)
    for (let from = 0; from < count; from += MOST_INPUTS) {
      const some = indexes.slice(from, from + MOST_INPUTS);
      await ask(PUBLISH_MANY, {
        inputs: some.map((index) => ratingInput(index, [{ id: nameOf(kind, index) }])),
      });
    }
  const done = (): Promise<number> => untilDone('Fan-outs', 10, () => openFanOuts(world));
  await done();
  const actions = await world.actions.find({ refIds: /^read-/ }).toArray();
  const idsFor = (index: number): readonly string[] =>
    actions.flatMap(({ _id, refIds }) =>
      refIds.includes(nameOf('read', index)) ? [encodeActionId(_id.toHexString())] : [],
    );
  const own = indexes.map(idsFor);
  const tokens = await Promise.all(indexes.map((index) => tokenFor(readerId(index))));
  const kinds = new Map([[process.pid, 'benchmark']]);
  return Object.entries(WRITES).map(([write, mutation]): Measure => {
    let written = 0;
    return async () => {
      written += 1;
      const requests = tokens.map((token, index): WireRequest => {
        // Nobody does the same again in a later round.
        const ids = own[index] ?? [];
        const on: On = {
          actionId: ids[(Math.floor(index / groups) + written) % ids.length] ?? '',
          newRef: nameOf('new', index + written),
          readRef: nameOf('read', index),
        };
        return graphqlRequest(api.url, write === 'publish' ? host : token, ...mutation(on));
      });
      const cpu = (): number =>
        [...cpuByKind(kinds)].reduce((sum, [kind, seconds]) => sum + (kind === 'benchmark' ? 0 : seconds), 0);
      const before = cpu();
      const { total } = await hammer(requests, { count, concurrency: AT_ONCE });
      await done();
      return {
        [`${rateOfWrites(write)}${side}`]: count / (total / 1_000),
        [`${write}: CPU of all processes, ms${side}`]: ((cpu() - before) * 1_000) / count,
      };
    };
  });
}
