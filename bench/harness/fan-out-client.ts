import type { WatcherOptions } from './watcher.ts';
import { actionOf, watch, WATCH, type Watcher } from './watcher.ts';
import { tokenFor } from './fanfare.ts';
import { graphqlRequest, Lane, readAnswer } from './http-lanes.ts';
import { now } from './statistics.ts';
import { ratingInput } from '../world/actions.ts';
import { PUBLISH } from '../world/queries.ts';

/** Publishes through HTTP and waits at the sockets of some followers. */
export interface FanOutClient extends AsyncDisposable {
  /** Publishes so many actions for each ref at once; milliseconds until every watcher has got all of theirs. */
  fanOut(activities: number): Promise<number>;
}

export interface FanOutClientOptions {
  readonly url: string;
  readonly wsUrl: string;
  /** Each with the reader whose socket is waited at. */
  readonly sources: readonly { readonly refId: string; readonly lastReader: string }[];
}

let published = 0;

export async function openFanOutClient(options: FanOutClientOptions): Promise<FanOutClient> {
  const { url, wsUrl, sources } = options;
  const token = await tokenFor('publisher', ['service']);
  const events = new Set<string>();
  let onEvent: () => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const watchers: Watcher[] = [];
  for (const { lastReader } of sources) {
    const watcherOptions: WatcherOptions = {
      url: wsUrl,
      token: await tokenFor(lastReader),
      query: WATCH,
      onEvent: (text) => {
        const id = actionOf(text);
        if (id === null) fail(new Error(`Instead of an item came ${text}`));
        else events.add(`${lastReader} ${id}`);
        onEvent();
      },
      onTrouble: (error) => {
        fail(error);
      },
    };
    watchers.push(await watch(watcherOptions));
  }
  const publish = async (lane: Lane, refId: string): Promise<void> => {
    const input = ratingInput(published++, [{ id: refId }]);
    const { body } = readAnswer(await lane.send(graphqlRequest(url, token, PUBLISH, { input })));
    if (!body.includes('"isReplay":false')) throw new Error(`Not published: ${body}`);
  };
  return {
    async fanOut(activities) {
      const jobs = sources.flatMap(({ refId }) => Array.from({ length: activities }, () => refId));
      const lanes = await Promise.all(
        jobs.map(() => Lane.open({ host: '127.0.0.1', port: Number(new URL(url).port) })),
      );
      events.clear();
      const start = now();
      let end = 0;
      try {
        const everybody = new Promise<void>((resolve, reject) => {
          fail = reject;
          onEvent = () => {
            end = now();
            if (events.size === jobs.length) resolve();
          };
        });
        await Promise.all([
          everybody,
          ...jobs.map(async (refId, index) => {
            const lane = lanes[index];
            if (lane !== undefined) await publish(lane, refId);
          }),
        ]);
        return end - start;
      } finally {
        for (const lane of lanes) lane[Symbol.dispose]();
      }
    },
    [Symbol.asyncDispose]: () => {
      for (const watcher of watchers) watcher.close();
      return Promise.resolve();
    },
  };
}
