import type { Terminal } from './context.ts';
import { endsWithProgress } from './progress.ts';

/** Shows that something goes on while nothing else is said. Disposing clears it. */
export interface WaitingLine extends Disposable {
  /** What goes on now; the clock starts again. Null: something else shows it. */
  now(what: string | null): void;
}

const AFTER_MS = 1_000;
const EVERY_MS = 500;
const CLEAR_LINE = '\r\u001b[K';

/**
 * One line at the bottom of a terminal, with the seconds that what goes on has taken, from the first second on. The
 * next note takes its place. Where nobody watches it says nothing.
 */
export function openWaitingLine(terminal: Terminal): WaitingLine {
  if (!terminal.isInteractive) return { now: () => undefined, [Symbol.dispose]: () => undefined };
  let what: string | null = 'Starting';
  let since = Date.now();
  let isShown = false;
  const clear = (): void => {
    if (isShown) terminal.stderr.write(CLEAR_LINE);
    isShown = false;
  };
  const timer = setInterval(() => {
    const ms = Date.now() - since;
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
      since = Date.now();
    },
    [Symbol.dispose]() {
      clearInterval(timer);
      clear();
    },
  };
  endsWithProgress(line);
  return line;
}

/** Says that something goes on before the code is there that could say what. The next note takes its place. */
export function sayLoading(terminal: Terminal): void {
  if (terminal.isInteractive) terminal.stderr.write(`${CLEAR_LINE}… Loading`);
}

const LINE = 80;

/** A text that fits a line of 80 columns; the beginning says most. */
export function fitted(text: string, columns = LINE): string {
  return text.length <= columns ? text : `${text.slice(0, columns - 1)}…`;
}
