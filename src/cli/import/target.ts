import type { RecordKind, Records } from './records.ts';

export interface RecordFault {
  readonly index: number;
  readonly message: string;
}

export interface BatchOutcome {
  /** Actions that already existed. */
  readonly replays: number;
  readonly faults: readonly RecordFault[];
}

/** Destination of an import, with one function per kind of record. All writes are repeatable. */
export type ImportWriters = {
  readonly [K in RecordKind]: (records: readonly Records[K][]) => Promise<BatchOutcome>;
};

export interface ImportTarget {
  readonly writers: ImportWriters;
  /** Number of undelivered actions. Rejects with CommandError when unknown. */
  openFanOuts(): Promise<number>;
  /** Number of running workers that could deliver them. Rejects like `openFanOuts`. */
  workers(): Promise<number>;
}

export class BatchRefused extends Error {
  override readonly name = 'BatchRefused';
  /** Faulty records, as far as the server reported them. */
  readonly faults: readonly RecordFault[];

  constructor(
    message: string,
    issues: readonly { readonly path: readonly unknown[]; readonly message: string }[],
  ) {
    super(message);
    this.faults = issues.flatMap(faultOf);
  }
}

/** The first number in an issue's path is the position in the batch. */
function faultOf(issue: { readonly path: readonly unknown[]; readonly message: string }): RecordFault[] {
  const at = issue.path.findIndex((key) => typeof key === 'number');
  const index = issue.path[at];
  if (typeof index !== 'number') return [];
  const field = issue.path
    .slice(at + 1)
    .map(String)
    .join('.');
  return [{ index, message: field === '' ? issue.message : `${field}: ${issue.message}` }];
}

/**
 * Writes a batch that is accepted or rejected as a whole: removes faulty records and tries again. If the server does not
 * identify them, finds them by bisection.
 */
export async function writeAround<R>(
  records: readonly R[],
  write: (records: readonly R[]) => Promise<unknown>,
): Promise<RecordFault[]> {
  if (records.length === 0) return [];
  try {
    await write(records);
    return [];
  } catch (error) {
    if (!(error instanceof BatchRefused)) throw error;
    const named = new Map(
      error.faults.filter(({ index }) => index in records).map((fault) => [fault.index, fault]),
    );
    if (named.size === 0) return writeHalves(records, write, error.message);
    const kept = records.flatMap((record, index) => (named.has(index) ? [] : [{ record, index }]));
    const rest = await writeAround(
      kept.map(({ record }) => record),
      write,
    );
    return [
      ...named.values(),
      ...rest.map(({ index, message }) => ({ index: kept[index]?.index ?? index, message })),
    ];
  }
}

async function writeHalves<R>(
  records: readonly R[],
  write: (records: readonly R[]) => Promise<unknown>,
  message: string,
): Promise<RecordFault[]> {
  if (records.length === 1) return [{ index: 0, message }];
  const half = records.length >> 1;
  const first = await writeAround(records.slice(0, half), write);
  const second = await writeAround(records.slice(half), write);
  return [...first, ...second.map((fault) => ({ ...fault, index: fault.index + half }))];
}
