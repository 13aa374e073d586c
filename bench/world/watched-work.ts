import { tokenFor, type FanfareApi } from '../harness/fanfare.ts';
import { graphqlRequest } from '../harness/http-lanes.ts';
import { LanePool } from '../harness/lane-pool.ts';
import { now } from '../harness/statistics.ts';
import { watch } from '../harness/watcher.ts';
import { ratingInput } from './actions.ts';
import { HIDE, INTERACT, PUBLISH, WATCH_CHANGES } from './queries.ts';

/** What one operation took, in milliseconds from the moment it was sent. */
export interface Took {
  /** Until the mutation was answered. */
  readonly answer: number;
  /** Until the watcher had the event. */
  readonly event: number;
}

/** Operations on actions that one reader watches, through HTTP and a socket. */
export interface WatchedWork extends AsyncDisposable {
  /** Gives the id of the action, too. */
  publish(): Promise<Took & { readonly id: string }>;
  comment(id: string): Promise<Took>;
  hide(id: string): Promise<Took>;
}

const GIVE_UP_MS = 2 * 60_000;
const CONNECTIONS = 4;
const READER = 'watching-reader';
const ACTOR = 'publisher';

type Kind = 'FeedItemAdded' | 'FeedItemUpdated' | 'FeedItemRemoved';

export async function openWatchedWork(api: Pick<FanfareApi, 'url' | 'wsUrl'>): Promise<WatchedWork> {
  const { url, wsUrl } = api;
  const service = await tokenFor('publisher', ['service']);
  const admin = await tokenFor('moderator', ['admin']);
  const pool = new LanePool(url, CONNECTIONS);
  /** When each event came. */
  const came = new Map<string, number>();
  let onEvent: () => void = () => undefined;
  let trouble: Error | null = null;
  const watcher = await watch({
    url: wsUrl,
    token: await tokenFor(READER),
    query: WATCH_CHANGES,
    onEvent: (text, at) => {
      const [, kind = ''] = /"__typename":"(\w+)"/.exec(text) ?? [];
      const [, id = ''] = /"(?:id|actionId)":"([^"]+)"/.exec(text.slice(text.indexOf('"feedEvents"'))) ?? [];
      if (!came.has(`${kind} ${id}`)) came.set(`${kind} ${id}`, at);
      onEvent();
    },
    onTrouble: (error) => {
      trouble = error;
      onEvent();
    },
  });
  const eventOf = (kind: Kind, id: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const patience = setTimeout(() => {
        reject(new Error(`No ${kind} came within ${String(GIVE_UP_MS)} ms`));
      }, GIVE_UP_MS);
      onEvent = () => {
        const at = came.get(`${kind} ${id}`);
        if (at === undefined && trouble === null) return;
        clearTimeout(patience);
        onEvent = () => undefined;
        if (at === undefined) reject(trouble ?? new Error('The watcher has ended'));
        else resolve(at);
      };
      onEvent();
    });
  const measured = async (
    kind: Kind,
    request: { token: string; query: string; variables: Readonly<Record<string, unknown>> },
  ): Promise<Took & { readonly id: string }> => {
    const start = now();
    const body = await pool.ask(graphqlRequest(url, request.token, request.query, request.variables));
    const answer = now() - start;
    const [, id = ''] = /"id":"([^"]+)"/.exec(body) ?? [];
    return { id, answer, event: (await eventOf(kind, id)) - start };
  };
  let published = 0;
  let comments = 0;
  return {
    publish: () =>
      measured('FeedItemAdded', {
        token: service,
        query: PUBLISH,
        variables: { input: ratingInput(published++, [], { actorId: ACTOR, mentions: [READER] }) },
      }),
    comment: (actionId) =>
      measured('FeedItemUpdated', {
        token: service,
        query: INTERACT,
        variables: {
          input: {
            actionId,
            kind: 'COMMENT',
            actorId: ACTOR,
            idempotencyKey: `comment-${String(comments++)}`,
          },
        },
      }),
    hide: (id) => measured('FeedItemRemoved', { token: admin, query: HIDE, variables: { id } }),
    async [Symbol.asyncDispose]() {
      watcher.close();
      await pool[Symbol.asyncDispose]();
    },
  };
}
