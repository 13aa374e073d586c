import type { StartStep } from '../connections/databases.ts';
import { logEmbeddedStep } from '../telemetry/events.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Terminal } from '../app/command-shapes.ts';
import { fitted, openWaitingLine } from './waiting-line.ts';
import { openProgress, type Progress } from './terminal.ts';

export interface EmbeddedSteps extends Disposable {
  readonly onEvent: (event: StartStep) => void;
  /** Shows steps that follow the databases. */
  note(message: string): void;
}

/**
 * Shows the progress of local databases.
 * @param log logs it instead; `null`: the terminal shows it
 * @param stop of a server, which ends when its databases are lost, unless it is ending already
 */
export function embeddedSteps(terminal: Terminal, log: Logger | null, stop?: AbortController): EmbeddedSteps {
  let bar: { readonly step: string; readonly progress: Progress } | null = null;
  const waiting = log === null ? openWaitingLine(terminal) : null;
  const note = (message: string) => {
    // A long cache path would wrap to a second line; debug logs have the whole message.
    terminal.note(terminal.isInteractive ? fitted(message) : message);
    waiting?.now(message);
  };
  const isNews = tenths();
  const endBar = () => {
    bar?.progress[Symbol.dispose]();
    bar = null;
  };
  return {
    onEvent(event) {
      if (event.step === 'exit' || event.step === 'lost' || log !== null) {
        endBar();
        if (log === null) terminal.note(event.message);
        else if (isNews(event)) logEmbeddedStep(log, event);
        if (event.step === 'lost' && stop?.signal.aborted === false) crash(event.message);
      } else if (event.fraction === undefined) {
        endBar();
        note(event.message);
      } else {
        if (bar?.step !== event.step) endBar();
        bar ??= { step: event.step, progress: openProgress(terminal, event.step) };
        bar.progress.update(event.fraction, event.message);
        waiting?.now(null);
      }
    },
    note,
    [Symbol.dispose]() {
      endBar();
      waiting?.[Symbol.dispose]();
    },
  };
}

/** A server without its databases ends, so that its supervisor can start both again. */
function crash(message: string): void {
  setImmediate(() => {
    throw new Error(message);
  });
}

/** Whether a step has advanced by a tenth or ended: a log cannot show a progress bar. */
function tenths(): (event: StartStep) => boolean {
  let last = { step: '', tenth: -1 };
  return ({ step, fraction }) => {
    if (fraction === undefined) return true;
    const tenth = Math.floor(fraction * 10);
    if (step === last.step && tenth <= last.tenth) return false;
    last = { step, tenth };
    return true;
  };
}
