import { closeSync, openSync, readSync, statSync } from 'node:fs';

/** The length of a file in bytes; 0 when it is not there. */
export function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

const TAIL_BYTES = 2_000;

/** The end of what was written to a file since it had the size `from`. */
export function readSince(file: string, from: number): string {
  const size = sizeOf(file);
  const start = Math.max(from, size - TAIL_BYTES);
  if (size <= start) return '';
  const buffer = Buffer.alloc(size - start);
  const descriptor = openSync(file, 'r');
  try {
    return buffer.toString('utf8', 0, readSync(descriptor, buffer, 0, buffer.length, start)).trim();
  } finally {
    closeSync(descriptor);
  }
}
