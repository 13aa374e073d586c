import { watchesOf } from '../create-feed-client.ts';
import type { FeedMutations } from '../mutation-types.ts';
import { createMutations } from '../mutations.ts';
import type { Request } from '../request.ts';
import type { Offline } from '../offline/open.ts';
import type { FeedClientOptions } from '../types.ts';
import { Gate } from './gate.ts';
import type { Watched } from './lists.ts';
import { ReadAgain } from './read-again.ts';
import { Waiting, type CachedList } from './waiting.ts';

export interface CacheSourceOptions extends Omit<FeedClientOptions, 'fields'> {
  /** Called with the number of new and moved items that wait for `show`, whenever it may have changed. */
  readonly onHeld?: (count: number) => void;
  /** Called when an error ends a watch for good. Without it, such an error is an unhandled rejection. */
  readonly onError?: (error: unknown) => void;
  /** What `openOffline` of `@fanfare/client/offline` gives: lists are shown at once, and what a reader does waits for a connection. */
  readonly offline?: Offline | undefined;
}

/** A change of a list, as its subscription gives it. Every event carries the cursor from which to resume after it. */
interface ListEvent {
  readonly __typename: string;
  readonly cursor: string;
  readonly item?: { readonly id: string };
  readonly itemId?: string;
}

export interface Following<Event> {
  /** Gives the `liveCursor` of what is shown. Without one, `resync` is called first. */
  readonly begin: () => Promise<string | undefined>;
  /** Variables of the subscription: which list. */
  readonly of?: Watched;
  /** Whether an event brings an item that is not shown, or is shown in another place: only these wait. Absent: none does. */
  readonly moves?: (event: Event) => boolean;
  /** Changes what is shown. Called in order, and never while a request is under way. */
  readonly apply: (event: Event) => void;
  /** Reads the list again. Called until it succeeds; while it rejects with a temporary FeedClientError, the server is away. */
  readonly resync: (reason: string, cursor: string) => Promise<unknown>;
  /** Notified of the cursor from which on nothing is shown yet, after each change. */
  readonly onCursor?: ((cursor: string) => void) | undefined;
}

/** What a cache of another library is filled from. */
export interface CacheSource {
  /** Sends a query or mutation; gives its data. Rejects with a FeedClientError. */
  readonly request: Request;
  /** The changes a reader makes, checked by their types. The cache knows nothing of them: what is shown is changed by events. */
  readonly mutations: FeedMutations;
  /** What is kept in the browser. */
  readonly waiting: Waiting;
  /** Comes when the answers are another reader's, or all is closed. */
  readonly reader: AbortSignal;
  /** Of the sentences; undefined before the first answer. */
  readonly language: string | undefined;
  /** Ends everything for good, and empties the cache. */
  close(): void;
  /** Makes a request, during which no event is delivered. End it when the cache has the answer. */
  during<T>(request: () => Promise<T>): Promise<T>;
  /** From this call on, new and moved items wait. */
  hold(): void;
  /** Delivers all that waits, and from this call on every event at once. */
  show(): void;
  /**
   * What concerns one list or action, one after the other: a page that was asked for by what was loaded before the first one
   * was read again would leave a gap, and of what a reader does to an action the last has to win.
   * @param of names it
   */
  inTurn<T>(of: string, run: () => Promise<T>): Promise<T>;
  /** @param subscription of `feedEvents` or `notificationEvents` @returns stops it */
  follow<Event>(subscription: string, following: Following<Event>): () => void;
  /**
   * For a list that is not changed by its events: reads it now, and again whenever its subscription tells of something or, without
   * one, a feed has changed. @returns stops it
   */
  readAgain(
    read: () => Promise<unknown>,
    live?: { readonly subscription: string; readonly of: Watched },
  ): () => void;
}

/** How a cache is made another reader's. */
export interface Forgetting {
  /** Empties it at once. @param isFinal nobody comes after */
  forget(why: Error, isFinal: boolean): void;
  /** What is on the screen is asked for again. */
  begin(): Promise<void>;
}

/** @param documents queries of lists @throws TypeError when the url is none, or a server is given a function as token: it answers for anyone who asks */
export function createCacheSource(
  options: CacheSourceOptions,
  documents: Readonly<Record<CachedList, string>>,
  cache: Forgetting,
): CacheSource {
  if (typeof options.token !== 'string' && !('window' in globalThis))
    throw new TypeError('On a server, make one for each request, with the token of its reader as text');
  const { watch, request, reader, backoff } = watchesOf(options);
  const gate = new Gate(options.onHeld ?? (() => undefined));
  const lists = new Set<ReadAgain>();
  /** What is watched, each with what begins it again. */
  const running = new Set<() => void>();
  /** What has ended with its reader is no error. */
  const settle = (work: Promise<void>): void => {
    const { signal } = reader;
    const settled = work.catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    void (options.onError === undefined ? settled : settled.catch(options.onError));
  };
  const readAllAgain = (): void => {
    for (const list of lists) settle(list.want());
  };
  /** @param start gives what stops it @returns the same, for good */
  const run = (start: () => () => void): (() => void) => {
    let stop = start();
    const again = (): void => {
      stop();
      stop = start();
    };
    running.add(again);
    return () => {
      running.delete(again);
      stop();
    };
  };
  const begin = async (signal: AbortSignal): Promise<void> => {
    // First all that was under way ends.
    await new Promise((resolve) => setTimeout(resolve));
    if (!signal.aborted) await cache.begin();
    if (!signal.aborted) for (const again of running) again();
  };
  const obey = (signal: AbortSignal): void =>
    signal.addEventListener('abort', () => {
      gate.show();
      const isFinal = reader.signal.aborted;
      cache.forget(signal.reason as Error, isFinal);
      if (isFinal) return;
      obey(reader.signal);
      settle(begin(reader.signal));
    });
  obey(reader.signal);
  const mutations = createMutations(request, reader, {});
  return {
    ...{ request, mutations },
    waiting: new Waiting({ offline: options.offline, reader, documents, mutations }),
    get reader() {
      return reader.signal;
    },
    get language() {
      return reader.language;
    },
    close: () => reader.close(),
    during: (work) => gate.during(() => reader.during(undefined, work)),
    hold: () => gate.hold(),
    show: () => gate.show(),
    inTurn: (of, work) => reader.inTurn(of, work),
    follow: <Event>(
      subscription: string,
      { begin: first, of = {}, moves, apply, resync, onCursor }: Following<Event>,
    ) =>
      run(() => {
        const end = new AbortController();
        const passage = gate.open();
        const deliver = (event: Event) => (): void => {
          if (end.signal.aborted) return;
          apply(event);
          readAllAgain();
        };
        // What waits to be shown comes once more.
        const reached = (next: string): void => {
          if (!end.signal.aborted && !passage.isHolding) onCursor?.(next);
        };
        const follow = async (): Promise<void> => {
          const after = await first();
          await watch<Event & ListEvent, object>(subscription, {
            ...{ ...of, signal: end.signal, ...(after !== undefined && { after }) },
            async onEvent(event) {
              await passage.pass(event, () => moves?.(event) ?? false, deliver(event));
              reached(event.cursor);
            },
            async onResync(reason, next) {
              await passage.reset(() => resync(reason, next));
              readAllAgain();
              reached(next);
            },
          });
        };
        settle(follow());
        return () => {
          end.abort();
          passage.close();
        };
      }),
    readAgain: (read, live) =>
      run(() => {
        const list = new ReadAgain(read, backoff);
        const end = new AbortController();
        const want = (): void => settle(list.want());
        if (live === undefined) lists.add(list);
        // It tells when it is open, too: what has changed before came by no event.
        else {
          const { subscription, of } = live;
          settle(
            watch<ListEvent, object>(subscription, {
              ...of,
              signal: end.signal,
              onEvent: want,
              onResync: want,
            }),
          );
        }
        want();
        return () => {
          end.abort();
          list.close();
          lists.delete(list);
        };
      }),
  };
}
