import { writeSync } from 'node:fs';

const STDERR = 2;

/**
 * Adds a line to the log of this process. The line is lost where the disk is full: a service must not end because nobody
 * can read about it, and goes on logging when there is room.
 */
export function logLine(text: string): void {
  try {
    writeSync(STDERR, `${new Date().toISOString()} ${text}\n`);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && isLostLine(error.code))) throw error;
  }
}

/** No room, or nobody who reads. */
function isLostLine(code: unknown): boolean {
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EIO' || code === 'EPIPE' || code === 'EAGAIN';
}
