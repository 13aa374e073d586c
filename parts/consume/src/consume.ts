import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { readRecord } from '../../import/src/records.ts';
import type { PublishActionInput, PublishOutcome } from '../../../src/core/shapes.ts';
import { JsonMeter, type JsonBounds } from '../../../src/lib/json-meter.ts';
import { MAX_LINE_BYTES } from '../../../src/lib/lines.ts';
import { forEachInOrder } from '../../../src/lib/turn.ts';
import type { Conclusion, Message, MessageSource, Refused } from './messages.ts';

export interface ConsumingOptions {
  readonly bounds: JsonBounds;
  readonly publish: (inputs: readonly PublishActionInput[]) => Promise<readonly PublishOutcome[]>;
  readonly signal: AbortSignal;
  /** Called after each batch is acknowledged. */
  readonly onConcluded: (conclusion: Conclusion<Message> & { readonly replays: number }) => void;
  /** The stream or the database is away. It is tried again. */
  readonly onFailure: (error: unknown) => void;
  /** Milliseconds until that. */
  readonly againAfterMs: number;
}

/** Batches that are recorded at once. */
const IN_FLIGHT = 3;
/** Until the size of messages is known. */
const FIRST_BATCH = 50;
/** With more, a process that is killed would leave more that others record again, for hardly less work per message. */
const MOST_AT_ONCE = 200;
/** Of the messages of one batch, if all were as long as the longest of the one before. */
const BATCH_BYTES = 4 * 1_024 * 1_024;

/**
 * Records the messages of a stream until the signal. Each is acknowledged after it is recorded, in any number of processes once.
 * @param holdEveryMs how often the stream is notified of what is still being recorded
 */
export async function consume<M extends Message>(
  open: () => Promise<MessageSource<M>>,
  options: ConsumingOptions,
  holdEveryMs: number,
): Promise<void> {
  const { signal, onFailure, againAfterMs } = options;
  while (!signal.aborted)
    try {
      await using source = await open();
      using held = new Held(source, holdEveryMs);
      await consumeFrom(source, held, options);
    } catch (error) {
      if (hasEnded(signal)) return;
      onFailure(error);
      await delay(againAfterMs, undefined, { signal }).catch(() => undefined);
    }
}

/** It may have changed while something else was waited for. */
function hasEnded({ aborted }: AbortSignal): boolean {
  return aborted;
}

async function consumeFrom<M extends Message>(
  source: MessageSource<M>,
  held: Held<M>,
  options: ConsumingOptions,
): Promise<void> {
  const { signal, onConcluded } = options;
  await forEachInOrder(batchesOf(source, signal), IN_FLIGHT, {
    mayBegin: () => !signal.aborted,
    work(messages) {
      held.add(messages);
      return record(messages, options);
    },
    async conclude(messages, conclusion) {
      held.delete(messages);
      await source.conclude(conclusion);
      onConcluded(conclusion);
    },
  });
}

/** Batches that are being recorded, of which the stream is notified while that takes long. */
class Held<M extends Message> implements Disposable {
  readonly #batches = new Set<readonly M[]>();
  readonly #timer: NodeJS.Timeout;

  constructor(source: MessageSource<M>, everyMs: number) {
    let known = new Set<readonly M[]>();
    this.#timer = setInterval(() => {
      // What has begun since the last time is recorded before the next as a rule.
      const slow = [...this.#batches].filter((batch) => known.has(batch));
      known = new Set(this.#batches);
      // What is lost comes again, and is recorded once all the same. The connection's loss is noticed by what reads.
      if (slow.length > 0) source.hold(slow.flat()).catch(() => undefined);
    }, everyMs);
  }

  add(batch: readonly M[]): void {
    this.#batches.add(batch);
  }

  delete(batch: readonly M[]): void {
    this.#batches.delete(batch);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

async function* batchesOf<M extends Message>(
  source: MessageSource<M>,
  signal: AbortSignal,
): AsyncGenerator<readonly M[]> {
  let most = FIRST_BATCH;
  while (!signal.aborted) {
    const messages = await source.read(most);
    if (messages.length === 0) continue;
    const longest = Math.max(1, ...messages.map(({ text }) => text?.length ?? 0));
    most = Math.max(1, Math.min(MOST_AT_ONCE, Math.floor(BATCH_BYTES / longest)));
    yield messages;
  }
}

async function record<M extends Message>(
  messages: readonly M[],
  options: ConsumingOptions,
): Promise<Conclusion<M> & { readonly replays: number }> {
  const refused: Refused<M>[] = [];
  const good: { readonly message: M; readonly record: PublishActionInput }[] = [];
  for (const message of messages) {
    const read = recordOf(message, options.bounds);
    if (typeof read === 'string') refused.push({ message, code: 'BAD_USER_INPUT', reason: read });
    else good.push({ message, record: read });
  }
  const recorded: M[] = [];
  const later: M[] = [];
  let replays = 0;
  const outcomes =
    good.length === 0
      ? []
      : await published(
          good.map(({ record: one }) => one),
          options,
        );
  for (const [index, { message }] of good.entries()) {
    const outcome = outcomes[index];
    if (outcome === undefined) throw new Error('An input has no outcome');
    const { error, isReplay } = outcome;
    if (error === null) {
      recorded.push(message);
      if (isReplay) replays += 1;
    } else if (error.code === 'RATE_LIMITED' || error.code === 'UNAVAILABLE') later.push(message);
    else refused.push({ message, code: error.code, reason: error.message });
  }
  return { recorded, refused, later, replays };
}

/** A text: why it cannot be recorded. */
function recordOf({ id, text }: Message, bounds: JsonBounds): PublishActionInput | string {
  if (text === null) return 'There is no text in the message';
  const bytes = Buffer.from(text);
  if (bytes.length > MAX_LINE_BYTES) return `The line is longer than ${String(MAX_LINE_BYTES)} bytes`;
  // What a parser and a validator would do with it depends on its shape.
  const fault = new JsonMeter(bounds).read(bytes);
  if (fault !== null) return fault;
  const key = `stream:${createHash('sha256').update(id).digest('base64url')}`;
  const read = readRecord('actions', { number: 1, text, fault: null }, () => key);
  return read.fault ?? read.record;
}

/** Again until the database is there: meanwhile nothing is acknowledged, and nothing more is read. */
async function published(
  inputs: readonly PublishActionInput[],
  { publish, signal, onFailure, againAfterMs }: ConsumingOptions,
): Promise<readonly PublishOutcome[]> {
  for (;;)
    try {
      return await publish(inputs);
    } catch (error) {
      if (signal.aborted) throw error;
      onFailure(error);
      await delay(againAfterMs, undefined, { signal });
    }
}
