import { watchesOf } from '../create-feed-client.ts';
import type { Request } from '../request.ts';
import type { FeedClientOptions } from '../types.ts';
import { Watch } from '../watch.ts';
import { Gate } from './gate.ts';
import { ReadAgain } from './read-again.ts';

export interface CacheSourceOptions extends Omit<FeedClientOptions, 'fields'> {
  /** Called with the number of new and moved items that wait for `show`, whenever it may have changed. */
  readonly onHeld?: (count: number) => void;
  /** Called when an error ends a watch for good. Without it, such an error is an unhandled rejection. */
  readonly onError?: (error: unknown) => void;
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
  readonly filter?: object | undefined;
  /** Changes what is shown. Called in order, and never while a request is under way. */
  readonly apply: (event: Event) => void;
  /** Reads the list again. Called until it succeeds; while it rejects with a temporary FeedClientError, the server is away. */
  readonly resync: (reason: string, cursor: string) => Promise<unknown>;
}

/** What a cache of another library is filled from. */
export interface CacheSource {
  /** Sends a query or mutation; gives its data. Rejects with a FeedClientError. */
  readonly request: Request;
  /** Makes a request, during which no event is delivered. End it when the cache has the answer. */
  during<T>(request: () => Promise<T>): Promise<T>;
  /** From this call on, new and moved items wait. */
  hold(): void;
  /** Delivers all that waits, and from this call on every event at once. */
  show(): void;
  /**
   * Reads of one list, one after the other: a page that was asked for by what was loaded before the first one was read again
   * would leave a gap. @param list names it
   */
  inTurn(list: string, read: () => Promise<void>): Promise<void>;
  /** @param subscription of `feedEvents` or `notificationEvents` @returns stops it */
  follow<Event>(subscription: string, following: Following<Event>): () => void;
  /** For a list that has no events: reads it now, and again whenever a feed has changed. @returns stops it */
  readAgain(read: () => Promise<unknown>): () => void;
}

/** @throws TypeError when the url is none */
export function createCacheSource(options: CacheSourceOptions): CacheSource {
  const { watching, request, backoff } = watchesOf(options);
  const gate = new Gate(options.onHeld ?? (() => undefined));
  const lists = new Set<ReadAgain>();
  const turns = new Map<string, Promise<void>>();
  const settle = (work: Promise<void>): void => {
    void (options.onError === undefined ? work : work.catch(options.onError));
  };
  const readAllAgain = (): void => {
    for (const list of lists) settle(list.want());
  };
  return {
    request,
    during: (run) => gate.during(run),
    hold: () => gate.hold(),
    show: () => gate.show(),
    inTurn(list, read) {
      const turn = (turns.get(list) ?? Promise.resolve()).then(read, read);
      turns.set(list, turn);
      return turn;
    },
    follow<Event>(subscription: string, { begin, filter, apply, resync }: Following<Event>) {
      const end = new AbortController();
      const passage = gate.open();
      const deliver = (event: Event) => (): void => {
        if (end.signal.aborted) return;
        apply(event);
        readAllAgain();
      };
      const run = async (): Promise<void> => {
        const after = await begin();
        const watch = new Watch<Event & ListEvent, object>(watching(subscription), {
          ...{ signal: end.signal, ...(after !== undefined && { after }), ...(filter && { filter }) },
          onEvent: (event) => passage.pass(event, deliver(event)),
          async onResync(reason, cursor) {
            await passage.reset(() => resync(reason, cursor));
            readAllAgain();
          },
        });
        await watch.run();
      };
      settle(run());
      return () => {
        end.abort();
        passage.close();
      };
    },
    readAgain(read) {
      const list = new ReadAgain(read, backoff);
      lists.add(list);
      settle(list.want());
      return () => {
        list.close();
        lists.delete(list);
      };
    },
  };
}
