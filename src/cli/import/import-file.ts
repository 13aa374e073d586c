import { stat } from 'node:fs/promises';
import type { Progress } from '../progress.ts';
import { inFlight } from './in-flight.ts';
import { readLines } from './lines.ts';
import { readRecord, type ReadRecord, type RecordKind, type Records } from './records.ts';
import type { BatchOutcome, ImportWriters } from './target.ts';

/** What the API takes at once. */
const MAX_RECORDS: Readonly<Record<RecordKind, number>> = {
  members: 1_000,
  refs: 1_000,
  follows: 1_000,
  actions: 500,
};
/** Half of the server's default body limit; a longer line goes alone. */
const MAX_BATCH_BYTES = 524_288;

export interface ImportedFile<K extends RecordKind = RecordKind> {
  readonly kind: K;
  readonly path: string;
  lines: number;
  written: number;
  replays: number;
  faults: number;
}

export interface ImportFileOptions {
  readonly writers: ImportWriters;
  /** Batches under way at once. They are sent in the order of the file; 1 makes sure they arrive in it. */
  readonly inFlight: number;
  readonly progress: Progress;
  /** Told of every line that was not written. */
  onFault(place: string, message: string): void;
}

interface Batch<R> {
  readonly records: R[];
  readonly lines: number[];
}

interface WrittenBatch<R> {
  readonly batch: Batch<R>;
  readonly outcome: BatchOutcome;
}

/** Imports one file in batches. Bad lines are reported and left out; the rest goes on. */
export async function importFile<K extends RecordKind>(
  kind: K,
  path: string,
  options: ImportFileOptions,
): Promise<ImportedFile<K>> {
  const total = (await stat(path)).size;
  const imported: ImportedFile<K> = { kind, path, lines: 0, written: 0, replays: 0, faults: 0 };
  let bytes = 0;
  const refuse = (line: number, message: string) => {
    imported.faults += 1;
    options.onFault(`${path}:${String(line)}`, message);
  };
  async function* goodLines(): AsyncGenerator<ReadRecord<Records[K]> & { readonly fault: null }> {
    for await (const line of readLines(path, { onBytes: (count) => (bytes += count) })) {
      imported.lines += 1;
      const read = readRecord(kind, line);
      if (read.fault === null) yield read;
      else refuse(read.line, read.fault);
    }
  }
  const write = async (batch: Batch<Records[K]>): Promise<WrittenBatch<Records[K]>> => ({
    batch,
    outcome: await options.writers[kind](batch.records),
  });
  for await (const { batch, outcome } of inFlight(batches(kind, goodLines()), options.inFlight, write)) {
    for (const { index, message } of outcome.faults) refuse(batch.lines[index] ?? 0, message);
    imported.replays += outcome.replays;
    imported.written += batch.records.length - outcome.faults.length - outcome.replays;
    options.progress.update(total === 0 ? 1 : bytes / total, `${imported.lines.toLocaleString('en')} lines`);
  }
  options.progress.update(1, `${imported.lines.toLocaleString('en')} lines`);
  return imported;
}

async function* batches<K extends RecordKind>(
  kind: K,
  reads: AsyncIterable<ReadRecord<Records[K]> & { readonly fault: null }>,
): AsyncGenerator<Batch<Records[K]>> {
  let batch: Batch<Records[K]> = { records: [], lines: [] };
  let bytes = 0;
  for await (const read of reads) {
    if (
      batch.records.length > 0 &&
      (batch.records.length >= MAX_RECORDS[kind] || bytes + read.bytes > MAX_BATCH_BYTES)
    ) {
      yield batch;
      batch = { records: [], lines: [] };
      bytes = 0;
    }
    batch.records.push(read.record);
    batch.lines.push(read.line);
    bytes += read.bytes;
  }
  if (batch.records.length > 0) yield batch;
}
