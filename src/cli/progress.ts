import { Presets, SingleBar } from 'cli-progress';
import type { Terminal } from './context.ts';

/** Progress of something. Disposing leaves the last state on the screen. */
export interface Progress extends Disposable {
  /** @param fraction 0 to 1. */
  update(fraction: number, detail: string): void;
}

const STEPS = 1_000;
const FIRST_LINE_AFTER_MS = 2_000;
const MAX_LINE_EVERY_MS = 60_000;

/** A progress bar on a terminal; otherwise increasingly rare lines, and one at the end. */
export function openProgress(terminal: Terminal, label: string): Progress {
  return terminal.isInteractive ? openBar(terminal, label) : openLines(terminal, label);
}

/** A bar hides the cursor and disables line wrapping; ending it restores both. */
const openBars = new Set<Disposable>();
let isWatchingExit = false;

/** Ends it together with the bars: on a signal, and at the end of the process. */
export function endsWithProgress(part: Disposable): void {
  endProgressAtExit();
  openBars.add(part);
}

/** Ends open bars. Later updates of them do nothing. */
export function endProgress(): void {
  for (const bar of openBars) bar[Symbol.dispose]();
}

/** Restores the terminal before last messages, whatever ends the process. */
function endProgressAtExit(): void {
  if (isWatchingExit) return;
  isWatchingExit = true;
  process.on('exit', endProgress);
  process.on('uncaughtExceptionMonitor', endProgress);
}

function openBar(terminal: Terminal, label: string): Progress {
  const bar = new SingleBar(
    {
      format: `${label} {bar} {percentage}%  {detail}`,
      barsize: 24,
      stream: terminal.stderr,
      hideCursor: true,
    },
    Presets.shades_classic,
  );
  bar.start(STEPS, 0, { detail: '' });
  const progress: Progress = {
    update: (fraction, detail) => {
      if (openBars.has(progress)) bar.update(Math.floor(fraction * STEPS), { detail });
    },
    [Symbol.dispose]: () => {
      if (openBars.delete(progress)) bar.stop();
    },
  };
  endsWithProgress(progress);
  return progress;
}

function openLines(terminal: Terminal, label: string): Progress {
  let lastAt = performance.now();
  let everyMs = FIRST_LINE_AFTER_MS;
  let unsaid: string | null = null;
  const say = () => {
    if (unsaid !== null) terminal.note(unsaid);
    unsaid = null;
    lastAt = performance.now();
  };
  return {
    update(fraction, detail) {
      unsaid = `${label} ${String(Math.floor(fraction * 100)).padStart(3)}%  ${detail}`.trimEnd();
      if (performance.now() - lastAt < everyMs) return;
      everyMs = Math.min(everyMs * 1.5, MAX_LINE_EVERY_MS);
      say();
    },
    [Symbol.dispose]: say,
  };
}
