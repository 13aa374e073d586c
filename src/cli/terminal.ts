import type { Terminal } from './context.ts';

const CLEAR_LINE = '\r\u001b[K';

/** The terminal of this process. */
export function processTerminal(): Terminal {
  const isInteractive = process.stderr.isTTY;
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreGoneReader);
  // A progress bar may stand on the line.
  const start = isInteractive ? CLEAR_LINE : '';
  let isMute = false;
  return {
    out(line) {
      if (isMute) return;
      if (isInteractive) process.stderr.write(CLEAR_LINE);
      process.stdout.write(`${line}\n`);
    },
    note(line) {
      if (isMute) return;
      process.stderr.write(`${start}${line}\n`);
    },
    isInteractive,
    stderr: process.stderr,
    mute() {
      isMute = true;
    },
  };
}

/** The reader of the output has gone, as `head` does (EPIPE), or the terminal was closed (EIO); the work goes on. */
function ignoreGoneReader(error: Error): void {
  if (!('code' in error && (error.code === 'EPIPE' || error.code === 'EIO'))) throw error;
}
