import { fstatSync, writeSync } from 'node:fs';
import type { Terminal } from '../app/command-shapes.ts';
import { Presets, SingleBar } from 'cli-progress';

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
  if (process.listeners('exit').includes(endProgress)) return;
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
