import { FanfareError } from '../../domain/errors.ts';
import { recordOf, type OffloadRecord } from '../../storage/offload/offload-records.ts';

/** Consecutive lines of an offload file. */
export interface OffloadChunk {
  readonly lines: readonly string[];
  /** All data belonging to the actions of this and earlier chunks has been read. */
  readonly endsBatch: boolean;
}

/** @throws FanfareError BAD_USER_INPUT */
export function readLine(line: string): OffloadRecord {
  const record = recordOf(line);
  if (record === null)
    throw new FanfareError('BAD_USER_INPUT', `This is no record of an action: ${line.slice(0, 100)}`);
  return record;
}
