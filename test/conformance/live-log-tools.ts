import { isOfEntry } from '../../src/feed/watch/live-decisions.ts';
import {
  LiveLogUnavailable,
  type EntryEvent,
  type LiveAppend,
  type LiveEvent,
  type LiveLog,
  type LiveMessage,
} from '../../src/live/live-log.ts';
import { PATIENCE_MS } from '../support/patience.ts';

/** An event that can be told from every other by its number. */
export function event(n: number, kind: EntryEvent['kind'] = 'added'): EntryEvent {
  return {
    kind,
    actionId: n.toString(16).padStart(24, '0'),
    relevancy: new Date(1_700_000_000_000 + n),
    reasons: ['FOLLOW'],
  };
}

export function entry(userId: string, n: number): LiveAppend {
  return { userId, event: event(n) };
}

export function entries(userId: string, from: number, to: number): LiveAppend[] {
  return Array.from({ length: to - from + 1 }, (_, index) => entry(userId, from + index));
}

/** The number of an event message; the kind (and reason) of any other. */
export function label(message: LiveMessage): number | string {
  if (message.kind === 'event') return labelOf(message.event);
  return message.kind === 'resync' ? `resync ${message.reason}` : message.kind;
}

function labelOf(event: LiveEvent): number | string {
  if (isOfEntry(event)) return Number.parseInt(event.actionId, 16);
  if (event.kind === 'list') return event.change;
  return event.kind === 'interaction' ? event.interactionId : event.of;
}

export function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

/** Everything a stream says until it ends. */
export async function drain(stream: AsyncIterable<LiveMessage>): Promise<LiveMessage[]> {
  const messages: LiveMessage[] = [];
  for await (const message of stream) messages.push(message);
  return messages;
}

/** Fails with a name instead of hanging until the test's own limit. */
export async function within<T>(what: string, promise: Promise<T>, ms = PATIENCE_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`Waited ${String(ms)} ms for ${what}`));
    }, ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Asks again until the answer is true. */
export async function eventually(
  what: string,
  ask: () => boolean | Promise<boolean>,
  ms = PATIENCE_MS,
): Promise<void> {
  const deadline = Date.now() + ms;
  while (!(await ask())) {
    if (Date.now() > deadline) throw new Error(`Waited ${String(ms)} ms until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** A client with one open stream. */
export class Tap implements Disposable {
  readonly #iterator: AsyncIterator<LiveMessage>;
  readonly #controller: AbortController;

  constructor(stream: AsyncIterable<LiveMessage>, controller: AbortController) {
    this.#iterator = stream[Symbol.asyncIterator]();
    this.#controller = controller;
  }

  static async open(log: LiveLog, userId: string, after?: string): Promise<Tap> {
    const controller = new AbortController();
    const { signal } = controller;
    return new Tap(
      await log.watch(after === undefined ? { userId, signal } : { userId, after, signal }),
      controller,
    );
  }

  /** Opens as soon as the log can be reached again. */
  static async reopen(log: LiveLog, userId: string, after?: string): Promise<Tap> {
    const opened: Tap[] = [];
    await eventually('the log can be watched again', async () => {
      try {
        opened.push(await Tap.open(log, userId, after));
      } catch (error) {
        if (!(error instanceof LiveLogUnavailable)) throw error;
      }
      return opened.length > 0;
    });
    const [tap] = opened;
    if (tap === undefined) throw new Error('No stream');
    return tap;
  }

  async next(): Promise<LiveMessage> {
    const result = await within('the next message', this.#iterator.next());
    if (result.done === true) throw new Error('The stream has ended');
    return result.value;
  }

  async take(count: number): Promise<LiveMessage[]> {
    const messages: LiveMessage[] = [];
    while (messages.length < count) messages.push(await this.next());
    return messages;
  }

  async labels(count: number): Promise<(number | string)[]> {
    return (await this.take(count)).map(label);
  }

  /** Everything up to the event with this number. */
  async until(n: number): Promise<LiveMessage[]> {
    const messages: LiveMessage[] = [];
    for (;;) {
      const message = await this.next();
      messages.push(message);
      if (label(message) === n) return messages;
    }
  }

  /** The result of next(), whatever it is. */
  raw(): Promise<IteratorResult<LiveMessage>> {
    return within('the end of the stream', this.#iterator.next());
  }

  return(): Promise<unknown> {
    return this.#iterator.return?.() ?? Promise.resolve();
  }

  [Symbol.dispose](): void {
    this.#controller.abort();
  }
}
