import { WebSocket } from 'ws';
import {
  createFeedClient,
  type ActionEvent,
  type FeedClient,
  type FeedEvent,
  type NotificationEvent,
  type NotificationWatchOptions,
  type SliceEvent,
  type SliceWatchOptions,
  type Watching,
  type WatchOptions,
} from '@fanfare/client';
import type { TestApp } from './app.ts';
import { PATIENCE_MS } from './patience.ts';

export const CLIENT_TRANSPORTS = ['websocket', 'sse'] as const;

/** A client as tests want it: of `sub`, and quick to connect again. */
export async function clientOf(
  app: Pick<TestApp, 'url' | 'token'>,
  sub: string,
  options: Partial<Omit<Parameters<typeof createFeedClient>[0], 'fields'>> = {},
): Promise<FeedClient> {
  return createFeedClient({
    url: `${app.url}/graphql`,
    token: await app.token(sub),
    webSocket: WebSocket,
    backoff: { firstMs: 20, maxMs: 200 },
    ...options,
  });
}

/** A watch and all it was told. Disposing ends it. */
export interface ClientWatch<Event = FeedEvent> extends AsyncDisposable {
  readonly events: readonly Event[];
  readonly resyncs: readonly string[];
  /** States so far, and the causes of those that had one. */
  readonly states: readonly string[];
  /** What the watch rejected with; null when it ended in peace. */
  readonly ended: Promise<unknown>;
  /** Ids of the actions that were added, or notified of, in order. */
  added(): string[];
  /** Waits for something that the watch receives. Rejects when it ends before, and after half a minute. */
  until(isSo: (watch: ClientWatch<Event>) => boolean): Promise<void>;
  abort(): void;
}

export function startWatch(client: FeedClient, options: Partial<WatchOptions> = {}): ClientWatch {
  return follow<FeedEvent, WatchOptions['filter']>(
    (all) => client.watch(all),
    options,
    (event) => (event.__typename === 'FeedItemAdded' ? event.item.action.id : undefined),
  );
}

export function startNotificationWatch(
  client: FeedClient,
  options: Partial<NotificationWatchOptions> = {},
): ClientWatch<NotificationEvent> {
  return follow<NotificationEvent, NotificationWatchOptions['filter']>(
    (all) => client.watchNotifications(all),
    options,
    (event) => (event.__typename === 'NotificationAdded' ? event.notification.action?.id : undefined),
  );
}

export function startSliceWatch(
  client: FeedClient,
  options: Partial<SliceWatchOptions> & Pick<SliceWatchOptions, 'refId'>,
): ClientWatch<SliceEvent> {
  return follow<SliceEvent, SliceWatchOptions['filter']>(
    (all) => client.watchSlice({ ...all, refId: options.refId }),
    options,
    (event) => (event.__typename === 'ActionAdded' ? event.action.id : undefined),
  );
}

export function startActionWatch(client: FeedClient, actionId: string): ClientWatch<ActionEvent> {
  return follow<ActionEvent, never>(
    (all) => client.watchAction({ ...all, actionId }),
    {},
    (event) => (event.__typename === 'InteractionAdded' ? event.interaction.id : undefined),
  );
}

function follow<Event, Filter>(
  begin: (options: Watching<Event, NonNullable<Filter>>) => Promise<void>,
  options: Partial<Watching<Event, NonNullable<Filter>>>,
  addedBy: (event: Event) => string | undefined,
): ClientWatch<Event> {
  const abort = new AbortController();
  const [events, resyncs, states]: [Event[], string[], string[]] = [[], [], []];
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  let isOver = false;
  const ended = begin({
    signal: abort.signal,
    ...options,
    async onEvent(event) {
      await options.onEvent?.(event);
      events.push(event);
      tell();
    },
    async onResync(reason, cursor) {
      await options.onResync?.(reason, cursor);
      resyncs.push(reason);
      tell();
    },
    onState(state, cause) {
      states.push(cause === undefined ? state : `${state}: ${cause.message}`);
      tell();
    },
  })
    .then(
      () => null,
      (error: unknown) => error,
    )
    .finally(() => {
      isOver = true;
      tell();
    });
  const watch: ClientWatch<Event> = {
    ...{ events, resyncs, states, ended },
    added: () => events.flatMap((event) => addedBy(event) ?? []),
    until: (isSo) =>
      new Promise((resolve, reject) => {
        const settle = (how: () => void): void => {
          clearTimeout(patience);
          listeners.delete(look);
          how();
        };
        const look = (): void => {
          if (isSo(watch)) settle(resolve);
          else if (isOver)
            settle(() => void ended.then((error) => reject(new Error('It ended', { cause: error }))));
        };
        const patience = setTimeout(() => {
          settle(() => {
            reject(
              new Error(
                `It did not come to be so: ${JSON.stringify({ events, resyncs, states: states.slice(-10) })}`,
              ),
            );
          });
        }, PATIENCE_MS);
        listeners.add(look);
        look();
      }),
    abort: () => {
      abort.abort();
    },
    async [Symbol.asyncDispose]() {
      abort.abort();
      await ended;
    },
  };
  return watch;
}

export function isLive({ states }: Pick<ClientWatch, 'states'>): boolean {
  return states.at(-1) === 'live';
}
