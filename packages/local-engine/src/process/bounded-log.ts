import { constants, copyFileSync, rmSync, truncateSync } from 'node:fs';
import { sizeOf } from './log-tail.ts';

const LIMIT_BYTES = 10_000_000;

/**
 * Empties a log that has become long; what it held is kept once more. Its writer has it open for appending, so the file
 * itself stays.
 */
export function boundLog(file: string): void {
  if (sizeOf(file) <= LIMIT_BYTES) return;
  const former = `${file}.1`;
  rmSync(former, { force: true });
  copyFileSync(file, former, constants.COPYFILE_EXCL);
  truncateSync(file);
}
