import type { FeedClient } from '../feed-client.ts';
import { Lists, type KeptList } from './lists.ts';
import { Outbox, type GivenUp, type Send, type WaitingWrite, type Write } from './outbox.ts';
import { Keeper, type KeeperOptions } from './store.ts';
import { WAITING, type WriteName } from './waiting.ts';

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
  /**
   * As `client`, for what has documents of its own.
   * @param reader when it is aborted, everything is cleared
   * @returns what keeps a write and has it sent when its turn has come
   */
  outbox(send: Send, reader: AbortSignal): (name: WriteName, variables: Write['variables']) => WaitingWrite;
  /** In place of what was kept with this key. */
  keep(list: KeptList): Promise<void>;
  /** @param list undefined: it is not to be kept now @returns call it whenever the list has changed: it is kept soon, or when the page is hidden */
  keeping(list: () => KeptList | undefined): () => void;
  /** When the reader signs out: nothing stays, and what waits is not sent. */
  readonly clear: () => Promise<void>;
  /** Ends without clearing, such as when the page shows something else. What waits is sent by the next one that opens it. */
  readonly close: () => void;
}

/** What changes within that time is kept at once, in ms. */
const KEEP_AFTER_MS = 300;

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
  const begin: Offline['outbox'] = (send, reader) => {
    reader.addEventListener('abort', () => void clear());
    outbox.start(send);
    return (name, variables) => {
      const write = outbox.make(name, variables);
      return { ...write, done: signal.aborted ? send(write) : outbox.add(write) };
    };
  };
  const keep = async (list: KeptList): Promise<void> => {
    if (!signal.aborted) await lists.keep(list).catch(() => undefined);
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
      // The table says of each what it takes and gives.
      const send: Send = ({ name, variables }) =>
        (inner.mutations[name] as (of: object) => Promise<unknown>)(variables);
      const write = begin(send, inner.reader);
      const waiting = WAITING.map((one) => [one, (of: Write['variables']) => write(one, of).done]);
      const mutations = { ...inner.mutations, ...(Object.fromEntries(waiting) as object) };
      return Object.create(inner, { mutations: { value: mutations, enumerable: true } }) as typeof inner;
    },
    outbox: begin,
    keep,
    keeping: (list) =>
      keptSoon(signal, () => {
        const now = list();
        if (now !== undefined) void keep(now);
      }),
    clear,
    close: () => end.abort(),
  };
}

function keptSoon(signal: AbortSignal, keep: () => void): () => void {
  const page = (globalThis as { readonly document?: Document }).document;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const now = (): void => {
    clearTimeout(timer);
    timer = undefined;
    keep();
  };
  // The page may end with it.
  const hidden = (): void => {
    if (timer !== undefined && page?.visibilityState === 'hidden') now();
  };
  let isWatching = false;
  return () => {
    if (signal.aborted) return;
    timer ??= setTimeout(now, KEEP_AFTER_MS);
    if (!isWatching) page?.addEventListener('visibilitychange', hidden, { signal });
    isWatching = true;
  };
}
