import { readLines, textBytes, type Line } from '../../../src/lib/lines.ts';
import { readRecord, type ReadRecord, type RecordKind, type Records } from './records.ts';
import type { BatchOutcome, ImportWriters } from './target.ts';

/** Limits of the API per call. */
const MAX_RECORDS: Readonly<Record<RecordKind, number>> = {
  members: 1_000,
  refs: 1_000,
  follows: 1_000,
  actions: 500,
};
/** Half of the server's default body limit; a longer line is sent alone. */
export const MAX_BATCH_BYTES = 524_288;

export interface ImportedFile<K extends RecordKind = RecordKind> {
  readonly kind: K;
  readonly path: string;
  lines: number;
  written: number;
  replays: number;
  faults: number;
}

export interface ImportFileOptions {
  /** Turns a line of another product into one of ours. */
  readonly mapLine?: ((kind: RecordKind, line: Line) => Line) | undefined;
  readonly writers: ImportWriters;
  /** Concurrent batches, sent in file order; with 1 they also arrive in file order. */
  readonly inFlight: number;
  /** Called with the processed share of the file and its number of lines, written or rejected. */
  onProgress(fraction: number, lines: number): void;
  onFault(place: string, message: string): void;
}

interface Batch<R> {
  readonly records: R[];
  readonly places: Place[];
}

type GoodRecord<R> = ReadRecord<R> & { readonly fault: null; readonly endsAt: number };

interface Place {
  readonly line: number;
  /** Bytes of text from the start of the file to the end of this line. */
  readonly endsAt: number;
}

interface WrittenBatch<R> {
  readonly batch: Batch<R>;
  readonly outcome: BatchOutcome;
}

/** Imports one file in batches. Invalid lines are reported and skipped. */
export async function importFile<K extends RecordKind>(
  kind: K,
  path: string,
  options: ImportFileOptions,
): Promise<ImportedFile<K>> {
  const total = await textBytes(path);
  const imported: ImportedFile<K> = { kind, path, lines: 0, written: 0, replays: 0, faults: 0 };
  const refuse = (line: number, message: string) => {
    imported.faults += 1;
    options.onFault(`${path}:${String(line)}`, message);
  };
  async function* goodLines(): AsyncGenerator<GoodRecord<Records[K]>> {
    let endsAt = 0;
    for await (const line of readLines(path, { onText: (bytes) => (endsAt = bytes) })) {
      imported.lines += 1;
      const read = readRecord(kind, options.mapLine?.(kind, line) ?? line);
      if (read.fault === null) yield { ...read, endsAt };
      else refuse(read.line, read.fault);
    }
  }
  const write = async (batch: Batch<Records[K]>): Promise<WrittenBatch<Records[K]>> => ({
    batch,
    outcome: await options.writers[kind](batch.records),
  });
  for await (const { batch, outcome } of inFlight(batches(kind, goodLines()), options.inFlight, write)) {
    for (const { index, message } of outcome.faults) refuse(batch.places[index]?.line ?? 0, message);
    imported.replays += outcome.replays;
    imported.written += batch.records.length - outcome.faults.length - outcome.replays;
    // Reading runs ahead of writing, so use the position of the last written line.
    const last = batch.places.at(-1);
    if (last !== undefined) options.onProgress(Math.min(0.999, last.endsAt / total), last.line);
  }
  options.onProgress(1, imported.lines);
  return imported;
}

async function* batches<K extends RecordKind>(
  kind: K,
  reads: AsyncIterable<GoodRecord<Records[K]>>,
): AsyncGenerator<Batch<Records[K]>> {
  let batch: Batch<Records[K]> = { records: [], places: [] };
  let bytes = 0;
  for await (const read of reads) {
    if (
      batch.records.length > 0 &&
      (batch.records.length >= MAX_RECORDS[kind] || bytes + read.bytes > MAX_BATCH_BYTES)
    ) {
      yield batch;
      batch = { records: [], places: [] };
      bytes = 0;
    }
    batch.records.push(read.record);
    batch.places.push({ line: read.line, endsAt: read.endsAt });
    bytes += read.bytes;
  }
  if (batch.records.length > 0) yield batch;
}

/**
 * Maps items with at most `limit` in progress. Work starts, and results are returned, in the order of the items. The first
 * failure ends it, after all running work has ended.
 */
export async function* inFlight<T, R>(
  items: AsyncIterable<T>,
  limit: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const running: Promise<R>[] = [];
  try {
    for await (const item of items) {
      const result = work(item);
      // Awaited below, but possibly only after it has failed.
      result.catch(() => undefined);
      running.push(result);
      if (running.length >= limit) yield await shift(running);
    }
    while (running.length > 0) yield await shift(running);
  } finally {
    await Promise.allSettled(running);
  }
}

function shift<R>(running: Promise<R>[]): Promise<R> {
  const first = running.shift();
  if (first === undefined) throw new Error('No batch is under way');
  return first;
}
