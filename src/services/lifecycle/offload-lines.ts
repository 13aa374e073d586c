import { FanfareError } from '../../domain/errors.ts';
import { recordOf, type OffloadRecord } from '../../storage/offload/offload-records.ts';

/** Lines of a file of actions that were taken out, in its order. */
export interface OffloadChunk {
  readonly lines: readonly string[];
  /** All that belongs to the actions of these lines and of those before is there with them. */
  readonly endsBatch: boolean;
}

/** @throws FanfareError BAD_USER_INPUT */
export function readLine(line: string): OffloadRecord {
  const record = recordOf(line);
  if (record === null)
    throw new FanfareError('BAD_USER_INPUT', `This is no record of an action: ${line.slice(0, 100)}`);
  return record;
}
