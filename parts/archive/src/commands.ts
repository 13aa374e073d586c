import type { CommandContext } from '../../../src/app/command-shapes.ts';
import { archiveOf } from './store/offloads.ts';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../../../src/config/config.ts';
import { clock } from '../../../src/lib/clock.ts';
import { NewFile } from '../../../src/lib/own-file.ts';
import { processesRepository } from '../../../src/storage/database/processes.ts';
import { configOf, CommandError, operatorOf } from '../../../src/cli/context.ts';
import { checkRestorable, checkTarget } from './check-files.ts';
import { runOffload, runRestore, type OffloadRun } from './run-offload.ts';
import { openProgress, type Progress } from '../../../src/cli/terminal.ts';
import { openRuntime, type Runtime } from '../../../src/cli/runtime.ts';
import { MissingWorker } from '../../../src/cli/wait-for-worker.ts';
import { readWork } from '../../../src/features/operations/read-work.ts';

export interface OffloadOptions {
  readonly before: string;
  readonly to: string;
  readonly worker: boolean;
  /** Milliseconds. */
  readonly waitForWorker: number;
}

export interface RestoreOptions {
  readonly worker: boolean;
}

const ASK_EVERY_MS = 200;
const OPERATOR = operatorOf('offload');
const GO_ON = 'Run the same command again to continue: nothing is lost.';

/** Moves actions that have been inactive since a day to a file. @returns the exit code */
export async function offload(context: CommandContext, options: OffloadOptions): Promise<number> {
  const before = dayOf(options.before);
  const config = configOf(context, { needsKey: false });
  using steps = new Steps(context);
  await checkTarget(options.to, before, checkedBy(config, steps));
  const file = new NewFile(options.to);
  await using runtime = await open(context, config, options, { next: GO_ON, file });
  const { database } = runtime.app;
  const missing = missingWorker(context, runtime, options);
  // Checked before anything is hidden that nobody would remove.
  while (missing !== null && !(await missing.look())) await delay(ASK_EVERY_MS);
  const { written, taken, earlier, left, failed } = await runOffload(
    {
      ...{ ...runOf(runtime, steps), path: options.to, file, now: () => clock.now() },
      // This process is among them.
      isAlone: async () => (await processesRepository(database.collections).count(clock.now())) <= 1,
      onWaiting: () => missing?.look() ?? Promise.resolve(),
    },
    { before },
  );
  steps[Symbol.dispose]();
  const { terminal } = context;
  if (written === 0) {
    terminal.out(`Nothing is older than ${before.toISOString()}: no file was written.`);
    return 0;
  }
  const byEarlier = earlier === 0 ? '' : `, ${String(earlier)} of them by an earlier run`;
  terminal.out(
    `${String(taken + earlier)} of ${String(written)} actions were moved to ${options.to}${byEarlier}.`,
  );
  if (left > 0)
    terminal.out(
      `${String(left)} were not: they have changed since they were written to the file. A later offload to another file takes them.`,
    );
  if (failed === 0) return 0;
  terminal.note(
    `${String(failed)} could not be removed from the feeds and stay hidden: check actions(fanOutState: FAILED), then run the command again.`,
  );
  return 1;
}

export async function restore(context: CommandContext, path: string, options: RestoreOptions): Promise<void> {
  const config = configOf(context, { needsKey: false });
  using steps = new Steps(context);
  const checked = await checkRestorable(path, checkedBy(config, steps));
  const next = 'Run the same command again to continue: nothing is restored twice.';
  await using runtime = await open(context, config, options, { next });
  const { returned, skipped } = await runRestore({ ...runOf(runtime, steps), path }, checked);
  if (options.worker) {
    const { app } = runtime;
    for (let left = await app.openFanOuts(); left > 0; left = await app.openFanOuts()) {
      steps.update('Delivering', Math.max(0, 1 - left / Math.max(left, returned)), `${String(left)} left`);
      await delay(ASK_EVERY_MS);
    }
  }
  steps[Symbol.dispose]();
  const { terminal } = context;
  terminal.out(`${String(returned)} actions of ${path} were restored.`);
  if (skipped > 0)
    terminal.out(
      `${String(skipped)} were not: they exist already, are in a later file, or belong to an erased tenant.`,
    );
}

function checkedBy({ auth }: Config, steps: Steps): Parameters<typeof checkRestorable>[1] {
  return {
    hasTenants: auth.tenantClaim !== undefined,
    onProgress: (fraction, actions) => {
      steps.update('Checking', fraction, `${String(actions)} actions`);
    },
  };
}

/** `null` when the command runs its own worker. */
function missingWorker(
  { terminal }: CommandContext,
  { app }: Runtime,
  { worker, waitForWorker }: OffloadOptions,
): MissingWorker | null {
  if (worker) return null;
  return new MissingWorker(terminal, {
    workers: () => readWork(app.core, OPERATOR).workers(),
    withinMs: waitForWorker,
    instead: 'Without --no-worker this command runs one itself.',
    state: GO_ON,
  });
}

function open(
  context: CommandContext,
  config: Config,
  { worker }: Pick<OffloadOptions, 'worker'>,
  { next, file }: { readonly next: string; readonly file?: NewFile },
): Promise<Runtime> {
  return openRuntime(context, {
    config,
    parts: { api: false, worker },
    voice: 'command',
    farewell: () => `Interrupted. ${next}`,
    onInterrupted: () => file?.discard() ?? Promise.resolve(),
  });
}

function runOf({ app }: Runtime, steps: Steps): Pick<OffloadRun, 'core' | 'onProgress'> {
  return {
    core: archiveOf(app.core),
    onProgress: (step, fraction, actions) => {
      steps.update(step, fraction ?? 0, `${String(actions)} actions`);
    },
  };
}

/** Shows one progress bar after another. */
class Steps implements Disposable {
  readonly #context: CommandContext;
  #label = '';
  #progress: Progress | null = null;

  constructor(context: CommandContext) {
    this.#context = context;
  }

  update(label: string, fraction: number, detail: string): void {
    if (label !== this.#label) {
      this[Symbol.dispose]();
      this.#progress = openProgress(this.#context.terminal, label);
      this.#label = label;
    }
    this.#progress?.update(Math.min(1, fraction), detail);
  }

  [Symbol.dispose](): void {
    this.#progress?.[Symbol.dispose]();
    this.#progress = null;
  }
}

/** A day starts at midnight UTC. @throws CommandError */
export function dayOf(text: string): Date {
  const isGood = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/.test(
    text,
  );
  const day = new Date(text);
  if (!isGood || Number.isNaN(day.getTime()) || !isInCalendar(text.slice(0, 10)))
    throw new CommandError(
      `--before got "${text}", expected a day such as 2025-12-31, or a time such as 2025-12-31T18:00Z`,
    );
  return day;
}

/** JavaScript turns 30 February into 2 March. */
function isInCalendar(day: string): boolean {
  return new Date(day).toISOString().startsWith(day);
}
