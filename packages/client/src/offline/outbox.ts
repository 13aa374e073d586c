import { FeedClientError } from '../errors.ts';
import type { Lists } from './lists.ts';
import { alone, isFull, type Keeper } from './store.ts';
import { WAITING, type WriteName } from './waiting.ts';

/** What a reader has done. */
export interface Write {
  /** In the order in which they were made. */
  readonly id: string;
  readonly name: WriteName;
  readonly variables: Readonly<Record<string, unknown>>;
  /** When it was made, in ms since 1970. */
  readonly at: number;
}

/** A write that an earlier page has left. */
export interface WaitingWrite extends Write {
  /** What the server answers. Rejects with a FeedClientError when it is given up. */
  readonly done: Promise<unknown>;
}

/** Notified of a write that is not sent any more. */
export type GivenUp = (
  write: Pick<WaitingWrite, 'name' | 'variables' | 'at'>,
  error: FeedClientError,
) => void;

const WRITE = 'write ';
const GIVEN_UP_AFTER_MS = 7 * 24 * 3_600_000;
/** A server that fails at one write, and answers, would hold up all behind it. */
const MOST_FAILURES = 10;
const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [1_000, 30_000];

interface Waiter {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** How a write ended, as one tab says it to the others. */
interface Ended {
  readonly id: string;
  readonly result?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
}

/** Gives what the server answers. Rejects with a FeedClientError. */
export type Send = (write: Write) => Promise<unknown>;

/** Writes of a reader, sent one after the other by one tab at a time, each kept until the server has answered it. */
export class Outbox {
  readonly #keeper: Keeper;
  readonly #lists: Lists;
  readonly #lock: string;
  readonly #signal: AbortSignal;
  readonly #onGivenUp: GivenUp | undefined;
  readonly #waiters = new Map<string, Waiter>();
  /** Those for which there was no room: this tab alone knows them. */
  readonly #unkept = new Map<string, Write>();
  readonly #failures = new Map<string, number>();
  readonly #channel: BroadcastChannel | null;
  #sendOne: Send | null = null;
  #saving: Promise<void> = Promise.resolve();
  #sending: Promise<void> | null = null;
  #isDue = false;
  #last = 0;
  /** Ends a wait for the network. */
  #again: () => void = () => undefined;

  constructor(
    { keeper, lists, lock, signal }: { keeper: Keeper; lists: Lists; lock: string; signal: AbortSignal },
    onGivenUp: GivenUp | undefined,
  ) {
    this.#keeper = keeper;
    this.#lists = lists;
    this.#lock = lock;
    this.#signal = signal;
    this.#onGivenUp = onGivenUp;
    this.#channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel(lock);
    if (this.#channel !== null)
      this.#channel.onmessage = ({ data }: MessageEvent<Ended>) => {
        this.#settle(data);
      };
    const online = (): void => this.#again();
    const page = globalThis as Partial<Pick<Window, 'addEventListener' | 'removeEventListener'>>;
    page.addEventListener?.('online', online);
    signal.addEventListener('abort', () => {
      page.removeEventListener?.('online', online);
      this.#channel?.close();
      this.#again();
      for (const { reject } of this.#waiters.values()) reject(over());
      this.#waiters.clear();
    });
  }

  /** Those that an earlier page, or another tab, has left. */
  async load(): Promise<readonly WaitingWrite[]> {
    const writes: WaitingWrite[] = [];
    for (const id of await this.#keeper.keys(WRITE)) {
      const write = await this.#read(id);
      if (write === null) continue;
      this.#last = Math.max(this.#last, Number.parseInt(id, 10));
      const done = this.#wait(id);
      done.catch(() => undefined);
      writes.push({ ...write, done });
    }
    return writes;
  }

  /** From now on there is something to send with. */
  start(send: Send): void {
    this.#sendOne = send;
    this.#send();
  }

  make(name: WriteName, variables: Write['variables']): Write {
    this.#last = Math.max(Date.now(), this.#last + 1);
    const id = `${String(this.#last).padStart(15, '0')} ${Math.random().toString(36).slice(2)}`;
    return { id, name, variables: keyed(name, variables, id), at: Date.now() };
  }

  /** Kept at once, and sent when its turn has come. Rejects with a FeedClientError that waiting does not mend. */
  add(write: Write): Promise<unknown> {
    const done = this.#wait(write.id);
    // Each is kept when those before it are.
    this.#saving = this.#saving.then(async () => {
      await this.#save(write);
      this.#send();
    });
    return done;
  }

  #wait(id: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiters.set(id, { resolve, reject });
    });
  }

  async #save(write: Write): Promise<void> {
    for (;;) {
      if (this.#signal.aborted) return;
      try {
        await this.#keeper.set(WRITE + write.id, JSON.stringify(write));
        return;
      } catch (error) {
        if (isFull(error) && (await this.#lists.makeRoom().catch(() => false))) continue;
        this.#keeper.say(
          isFull(error) ? 'full' : 'unavailable',
          `A write does not outlive the page: ${String(error)}`,
        );
        this.#unkept.set(write.id, write);
        return;
      }
    }
  }

  #send(): void {
    this.#isDue = true;
    if (this.#sendOne === null || this.#signal.aborted) return;
    this.#sending ??= alone(this.#lock, this.#signal, () => this.#sendAll())
      .catch((error: unknown) => {
        if (!this.#signal.aborted) this.#keeper.say('unavailable', `Writes cannot be sent: ${String(error)}`);
      })
      .finally(() => {
        this.#sending = null;
        if (this.#isDue) this.#send();
      });
  }

  async #sendAll(): Promise<void> {
    let wait = FIRST_WAIT_MS;
    while (!this.#signal.aborted) {
      this.#isDue = false;
      const write = await this.#next();
      if (write === null || this.#isOver()) return;
      const ended = await this.#try(write);
      if (ended === null) {
        await this.#pause(wait);
        wait = Math.min(LONGEST_WAIT_MS, wait * 2);
        continue;
      }
      wait = FIRST_WAIT_MS;
      if (this.#isOver()) return;
      // Said before it is removed: what is said twice does no harm, and what is never said leaves somebody waiting.
      this.#channel?.postMessage(ended);
      this.#settle(ended);
      this.#unkept.delete(write.id);
      await this.#keeper.del(WRITE + write.id);
    }
  }

  async #next(): Promise<Write | null> {
    for (const id of [...(await this.#keeper.keys(WRITE)), ...this.#unkept.keys()].sort()) {
      const write = this.#unkept.get(id) ?? (await this.#read(id));
      if (write !== null) return write;
    }
    return null;
  }

  /** Null: it was none, and is gone. */
  async #read(id: string): Promise<Write | null> {
    const write = writeIn(await this.#keeper.get(WRITE + id));
    if (write?.id === id) return write;
    await this.#keeper.del(WRITE + id);
    this.#keeper.say('corrupt', 'A write that was kept makes no sense');
    return null;
  }

  /** Null: it may succeed later. */
  async #try(write: Write): Promise<Ended | null> {
    const { id, at } = write;
    if (Date.now() - at > GIVEN_UP_AFTER_MS)
      return this.#giveUp(write, new FeedClientError('EXPIRED', 'It could not be sent for 7 days'));
    try {
      return { id, result: await this.#sendOne?.(write) };
    } catch (reason) {
      const error =
        reason instanceof FeedClientError ? reason : new FeedClientError('PROTOCOL', String(reason));
      const { code, isTemporary } = error;
      if (code !== 'INTERNAL_SERVER_ERROR')
        // Who has no good token may get one.
        return isTemporary || code === 'UNAUTHENTICATED' || isEnd(code) ? null : this.#giveUp(write, error);
      const failures = (this.#failures.get(id) ?? 0) + 1;
      this.#failures.set(id, failures);
      return failures < MOST_FAILURES ? null : this.#giveUp(write, error);
    }
  }

  #giveUp({ id, name, variables, at }: Write, error: FeedClientError): Ended {
    this.#onGivenUp?.({ name, variables, at }, error);
    const { code, message } = error;
    return { id, error: { code, message } };
  }

  #settle({ id, result, error }: Ended): void {
    const waiter = this.#waiters.get(id);
    this.#waiters.delete(id);
    if (error === undefined) waiter?.resolve(result);
    else waiter?.reject(new FeedClientError(error.code, error.message));
  }

  /** Asked again after every wait. */
  #isOver(): boolean {
    return this.#signal.aborted;
  }

  #pause(ms: number): Promise<void> {
    if (this.#isOver()) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#again = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Of the client: what waited for the reader of before is not sent for another one. */
function isEnd(code: string): boolean {
  return code === 'CLOSED' || code === 'READER_CHANGED';
}

function over(): FeedClientError {
  return new FeedClientError('CLOSED', 'What waited is not sent by this page any more');
}

/** With a key of its own, if it has none: the server knows it again. */
function keyed(name: WriteName, variables: Write['variables'], key: string): Write['variables'] {
  if (name !== 'addInteraction') return variables;
  const { input } = variables as { readonly input: Readonly<Record<string, unknown>> };
  return { ...variables, input: { idempotencyKey: key, ...input } };
}

function writeIn(given: unknown): Write | null {
  try {
    const write = JSON.parse(String(given)) as Partial<Write> | null;
    const { id, name, variables, at } = write ?? {};
    const isWhole =
      typeof id === 'string' &&
      WAITING.some((one) => one === name) &&
      typeof variables === 'object' &&
      typeof at === 'number';
    return isWhole ? (write as Write) : null;
  } catch {
    return null;
  }
}
