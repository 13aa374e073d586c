import type { StartStep } from '../app/group-and-steps.ts';
import { logEmbeddedStep } from '../telemetry/events/databases.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Terminal } from './context.ts';
import { fitted, openWaitingLine } from './waiting-line.ts';
import { openProgress, type Progress } from './progress.ts';

export interface EmbeddedSteps extends Disposable {
  readonly onEvent: (event: StartStep) => void;
  /** Says what comes after the databases. */
  note(message: string): void;
}

/** Shows what the local databases are doing. @param log says it instead; null: the terminal does. */
export function embeddedSteps(terminal: Terminal, log: Pick<Logger, 'info' | 'error'> | null): EmbeddedSteps {
  let bar: { readonly step: string; readonly progress: Progress } | null = null;
  const waiting = log === null ? openWaitingLine(terminal) : null;
  const note = (message: string) => {
    // A path of the cache would fill a second line; debug logs have all of it.
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
      if (event.step === 'exit' || log !== null) {
        endBar();
        if (log === null) terminal.note(event.message);
        else if (isNews(event)) logEmbeddedStep(log, event);
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

/** Whether a step has come a tenth further, or to its end: a log is no bar that moves. */
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
