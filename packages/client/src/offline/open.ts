import type { FeedClient } from '../feed-client.ts';
import { Lists, type KeptList } from './lists.ts';
import { Outbox, WAITING, type GivenUp, type WaitingWrite } from './outbox.ts';
import { Keeper, type KeeperOptions } from './store.ts';

export interface OfflineOptions extends KeeperOptions {
  /** The id of who is signed in. What another one has left is removed. */
  readonly readerKey: string;
  /** A write is not sent any more: the server has refused it, or for 7 days it could not be sent (EXPIRED). */
  readonly onGivenUp?: GivenUp;
}

/** What one reader has in this browser. */
export interface Offline {
  readonly readerKey: string;
  /** Those that were kept; none once it is cleared or closed. */
  readonly lists: readonly KeptList[];
  /** Those that earlier pages have left, in their order. They are sent once there is a client. */
  readonly writes: readonly WaitingWrite[];
  /**
   * The client with likes, comments and marks that wait for a connection. All others are as they were. When it is closed, or its token
   * function answers for another reader, everything is cleared.
   */
  client<Item>(client: FeedClient<Item>): FeedClient<Item>;
  /** In place of what was kept with this key. */
  keep(list: KeptList): Promise<void>;
  /** When the reader signs out: nothing stays, and what waits is not sent. */
  readonly clear: () => Promise<void>;
  /** Ends without clearing, such as when the page shows something else. What waits is sent by the next one that opens it. */
  readonly close: () => void;
}

/** Reads what is kept, which takes some milliseconds. Never rejects: what goes wrong is said to `onProblem`. */
export async function openOffline(options: OfflineOptions): Promise<Offline> {
  const { readerKey, onGivenUp } = options;
  const keeper = new Keeper(options);
  await keeper.open(readerKey);
  const end = new AbortController();
  const { signal } = end;
  const name = `fanfare offline ${readerKey}`;
  const lists = new Lists(keeper, `${name} lists`, signal);
  const outbox = new Outbox({ keeper, lists, lock: name, signal }, onGivenUp);
  const orNothing = <T>(loaded: Promise<readonly T[]>): Promise<readonly T[]> =>
    loaded.catch((error: unknown) => {
      keeper.say('unavailable', `What was kept cannot be read: ${String(error)}`);
      return [];
    });
  const clear = async (): Promise<void> => {
    if (!signal.aborted) end.abort();
    await keeper
      .clear()
      .catch((error: unknown) => keeper.say('unavailable', `It cannot be cleared: ${String(error)}`));
  };
  const loaded = { lists: await orNothing(lists.load()), writes: await orNothing(outbox.load()) };
  return {
    readerKey,
    get lists() {
      return signal.aborted ? [] : loaded.lists;
    },
    get writes() {
      return signal.aborted ? [] : loaded.writes;
    },
    client(inner) {
      const { reader } = inner;
      reader.addEventListener('abort', () => void clear());
      const waiting = WAITING.map((one) => [
        one,
        (variables: Readonly<Record<string, unknown>>): Promise<unknown> =>
          // The table says of each what it takes and gives.
          signal.aborted
            ? (inner.mutations[one] as (of: object) => Promise<unknown>)(variables)
            : outbox.write(one, variables),
      ]);
      const mutations = { ...inner.mutations, ...(Object.fromEntries(waiting) as object) };
      outbox.start(inner);
      return Object.create(inner, { mutations: { value: mutations, enumerable: true } }) as typeof inner;
    },
    async keep(list) {
      if (!signal.aborted) await lists.keep(list).catch(() => undefined);
    },
    clear,
    close: () => end.abort(),
  };
}
