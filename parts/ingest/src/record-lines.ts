import { setImmediate as nextTurn } from 'node:timers/promises';
import { MAX_BATCH_BYTES } from '../../import/src/import-file.ts';
import { readRecord, type KeyOf } from '../../import/src/records.ts';
import type { PublishActionInput, PublishOutcome } from '../../../src/core/shapes.ts';
import type { ErrorCode } from '../../../src/domain/errors.ts';
import { encodeActionId } from '../../../src/domain/node-ids.ts';
import { MAX_ACTIONS_PER_CALL } from '../../../src/features/publish/publish-action.ts';
import { JsonMeter, type JsonBounds } from '../../../src/lib/json-meter.ts';
import type { Line } from '../../../src/lib/lines.ts';
import { forEachInOrder } from '../../../src/lib/turn.ts';

/** What became of a line. */
export type Answer =
  | { readonly line: number; readonly id: string }
  | { readonly line: number; readonly error: string; readonly code: ErrorCode };

export interface RecordLinesOptions {
  /** The key of a line without one. */
  readonly keyOf: KeyOf;
  readonly bounds: JsonBounds;
  readonly publish: (inputs: readonly PublishActionInput[]) => Promise<readonly PublishOutcome[]>;
  /** Called one at a time, with every line once, in order. Nothing more is read while the answers to several batches wait. */
  readonly answer: (answers: readonly Answer[]) => Promise<void>;
}

type Entry = Answer | { readonly line: number; readonly record: PublishActionInput };

interface Batch {
  readonly entries: Entry[];
  bytes: number;
  records: number;
}

/** Batches that are recorded at once. */
const IN_FLIGHT = 3;
/** Answers to lines that cannot be read wait for no others. */
const MAX_ENTRIES = 2 * MAX_ACTIONS_PER_CALL;

/**
 * Records actions line by line: in batches of the size that the API takes while lines come fast, and at once when no more are
 * here and nothing is being recorded.
 */
export async function recordLines(lines: AsyncIterable<Line>, options: RecordLinesOptions): Promise<void> {
  const underWay = new UnderWay();
  await forEachInOrder(batchesOf(lines, options, underWay), IN_FLIGHT, {
    mayBegin: () => true,
    work: ({ entries }) => underWay.during(record(entries, options)),
    conclude: (_batch, answers) => options.answer(answers),
  });
}

/** What is being recorded. */
class UnderWay {
  #count = 0;
  #last: Promise<unknown> = Promise.resolve();

  get isNothing(): boolean {
    return this.#count === 0;
  }

  /** Resolves when what began last has ended. */
  get last(): Promise<unknown> {
    return this.#last;
  }

  during<T>(work: Promise<T>): Promise<T> {
    this.#count += 1;
    const end = (): void => {
      this.#count -= 1;
    };
    this.#last = work.then(end, end);
    return work;
  }
}

async function* batchesOf(
  lines: AsyncIterable<Line>,
  options: RecordLinesOptions,
  underWay: UnderWay,
): AsyncGenerator<Batch> {
  const iterator = lines[Symbol.asyncIterator]();
  let batch = emptyBatch();
  try {
    let next = iterator.next();
    let turn = nextTurn();
    for (;;) {
      // Lines that have arrived come before the turn ends.
      const first = batch.entries.length === 0 ? await next : await Promise.race([next, turn]);
      if (first === undefined) {
        if (underWay.isNothing) {
          yield batch;
          batch = emptyBatch();
        } else await Promise.race([next, underWay.last]);
        turn = nextTurn();
        continue;
      }
      if (first.done === true) break;
      const { value: line } = first;
      next = iterator.next();
      // It is awaited later, perhaps after the batch was recorded.
      next.catch(() => undefined);
      const bytes = line.text?.length ?? 0;
      if (isFull(batch, bytes)) {
        yield batch;
        batch = emptyBatch();
        turn = nextTurn();
      }
      add(batch, entryOf(line, options), bytes);
    }
    if (batch.entries.length > 0) yield batch;
  } finally {
    await iterator.return?.();
  }
}

function emptyBatch(): Batch {
  return { entries: [], bytes: 0, records: 0 };
}

function isFull({ entries, bytes, records }: Batch, more: number): boolean {
  if (entries.length === 0) return false;
  return records >= MAX_ACTIONS_PER_CALL || entries.length >= MAX_ENTRIES || bytes + more > MAX_BATCH_BYTES;
}

function add(batch: Batch, entry: Entry, bytes: number): void {
  batch.entries.push(entry);
  batch.bytes += bytes;
  if ('record' in entry) batch.records += 1;
}

function entryOf(line: Line, { keyOf, bounds }: RecordLinesOptions): Entry {
  // What a parser and a validator would do with it depends on its shape.
  const fault = line.fault ?? new JsonMeter(bounds).read(Buffer.from(line.text));
  if (fault !== null) return { line: line.number, error: fault, code: 'BAD_USER_INPUT' };
  const read = readRecord('actions', line, keyOf);
  return read.fault === null
    ? { line: read.line, record: read.record }
    : { line: read.line, error: read.fault, code: 'BAD_USER_INPUT' };
}

async function record(
  entries: readonly Entry[],
  { publish }: RecordLinesOptions,
): Promise<readonly Answer[]> {
  const inputs = entries.flatMap((entry) => ('record' in entry ? [entry.record] : []));
  const outcomes = inputs.length === 0 ? [] : await publish(inputs);
  let position = 0;
  return entries.map((entry) => {
    if (!('record' in entry)) return entry;
    const outcome = outcomes[position];
    position += 1;
    if (outcome === undefined) throw new Error('An input has no outcome');
    const { line } = entry;
    if (outcome.error === null) return { line, id: encodeActionId(outcome.action.id) };
    const { message, code } = outcome.error;
    return { line, error: message, code };
  });
}
