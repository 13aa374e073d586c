import type { Terminal } from './context.ts';

const CLEAR_LINE = '\r\u001b[K';

/** The terminal of this process. */
export function processTerminal(): Terminal {
  const isInteractive = process.stderr.isTTY;
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreClosedPipe);
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

/** The reader of the output has gone, as `head` does; the work goes on. */
function ignoreClosedPipe(error: Error): void {
  if (!('code' in error && error.code === 'EPIPE')) throw error;
}
