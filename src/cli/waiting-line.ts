import type { Terminal } from '../app/command-shapes.ts';
import { endsWithProgress } from './terminal.ts';

/** Shows that something is in progress while nothing else is printed. Disposing clears it. */
export interface WaitingLine extends Disposable {
  /** Shows the step in progress and restarts the clock. `null`: something else shows it. */
  now(what: string | null): void;
}

const AFTER_MS = 1_000;
const EVERY_MS = 500;
const CLEAR_LINE = '\r\u001b[K';

/**
 * One line at the bottom of a terminal with the seconds that the current step has taken, from the first second on. The next
 * note replaces it. Prints nothing where nobody is watching.
 */
export function openWaitingLine(terminal: Terminal): WaitingLine {
  if (!terminal.isInteractive) return { now: () => undefined, [Symbol.dispose]: () => undefined };
  let what: string | null = 'Starting';
  let since = performance.now();
  let isShown = false;
  const clear = (): void => {
    if (isShown) terminal.stderr.write(CLEAR_LINE);
    isShown = false;
  };
  const timer = setInterval(() => {
    const ms = performance.now() - since;
    if (what === null || ms < AFTER_MS) return;
    isShown = true;
    terminal.stderr.write(
      `${CLEAR_LINE}${fitted(`… ${what}`, LINE - 8)} ${String(Math.floor(ms / 1_000))} s`,
    );
  }, EVERY_MS);
  timer.unref();
  const line: WaitingLine = {
    now(next) {
      clear();
      what = next;
      since = performance.now();
    },
    [Symbol.dispose]() {
      clearInterval(timer);
      clear();
    },
  };
  endsWithProgress(line);
  return line;
}

/** Shows that something is in progress before the code that would show it is loaded. The next note replaces it. */
export function sayLoading(terminal: Terminal): void {
  if (terminal.isInteractive) terminal.stderr.write(`${CLEAR_LINE}… Loading`);
}

const LINE = 80;

/** A text that fits an 80-column line; its beginning is the most important part. */
export function fitted(text: string, columns = LINE): string {
  return text.length <= columns ? text : `${text.slice(0, columns - 1)}…`;
}
