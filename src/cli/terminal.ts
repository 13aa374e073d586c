import { fstatSync, writeSync } from 'node:fs';
import type { Terminal } from './context.ts';

const CLEAR_LINE = '\r\u001b[K';
const STDERR = 2;

export function processTerminal(): Terminal {
  const isInteractive = process.stderr.isTTY;
  // There may be a progress bar on the line.
  const start = isInteractive ? CLEAR_LINE : '';
  process.stderr.on('error', ignoreGoneReader);
  const writeNote = isFile(STDERR) ? writeOrLose : (text: string) => void process.stderr.write(text);
  // A result that does not fit on the disk is a failure, but none of the work: what is open is closed in order.
  let hasLostOutput = false;
  process.stdout.on('error', (error: Error) => {
    if (hasLostOutput || isGoneReader(error)) return;
    hasLostOutput = true;
    writeNote(`${start}The output cannot be written: ${error.message}\n`);
    process.on('exit', () => {
      if (process.exitCode === undefined || process.exitCode === 0) process.exitCode = 1;
    });
  });
  let isMute = false;
  return {
    out(line) {
      if (isMute) return;
      if (isInteractive) process.stderr.write(CLEAR_LINE);
      process.stdout.write(`${line}\n`);
    },
    note(line) {
      if (isMute) return;
      writeNote(`${start}${line}\n`);
    },
    isInteractive,
    stderr: process.stderr,
    mute() {
      isMute = true;
    },
  };
}

function ignoreGoneReader(error: Error): void {
  if (!isGoneReader(error)) throw error;
}

/** The reader of the output has closed, like `head` (EPIPE), or the terminal was closed (EIO); the work continues. */
function isGoneReader(error: Error): boolean {
  return 'code' in error && (error.code === 'EPIPE' || error.code === 'EIO');
}

/** Whether output goes to a file on disk, or to a device that behaves like one. */
function isFile(descriptor: number): boolean {
  const status = fstatSync(descriptor);
  return !status.isFIFO() && !status.isSocket() && !process.stderr.isTTY;
}

/** A log line that does not fit on the disk is dropped; a stream would end the process, or stay silent. */
function writeOrLose(text: string): void {
  try {
    writeSync(STDERR, text);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && NO_ROOM.has(error.code))) throw error;
  }
}

const NO_ROOM: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO']);
