import type { CommandContext, Terminal } from '../../../src/app/command-shapes.ts';
import { DamagedFile } from '../../../src/lib/lines.ts';
import { access, constants, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Mapping } from './formats/mapping.ts';
import { apiTarget, type BatchOutcome, type ImportTarget, servicesTarget } from './target.ts';
import { importFile, type ImportedFile } from './import-file.ts';
import { visible } from '../../../src/lib/redact.ts';
import type { RecordKind } from './records.ts';
import { connectToServer } from '../../../src/cli/api-client.ts';
import { configOf, CommandError, operatorOf } from '../../../src/cli/context.ts';
import { endOnSignals } from '../../../src/cli/shutdown.ts';
import { openProgress } from '../../../src/cli/terminal.ts';
import { openRuntime } from '../../../src/cli/runtime.ts';
import { MissingWorker } from '../../../src/cli/wait-for-worker.ts';
import { actingFor, type ActingOptions } from '../../../src/cli/token.ts';
import { readWork } from '../../../src/features/operations/read-work.ts';

export interface ImportOptions extends ActingOptions {
  readonly members?: readonly string[];
  readonly refs?: readonly string[];
  readonly follows?: readonly string[];
  readonly actions?: readonly string[];
  readonly url?: string;
  readonly token?: string;
  readonly inFlight: number;
  readonly wait?: boolean;
  /** The product whose export the files are. */
  readonly format?: string;
  readonly dryRun?: boolean;
  readonly worker: boolean;
  /** Milliseconds. */
  readonly waitForWorker: number;
}

const ORDER: readonly RecordKind[] = ['members', 'refs', 'follows', 'actions'];
const OPERATOR = operatorOf('import');
const MAX_SHOWN_FAULTS = 100;
const KIND_WIDTH = 8;
const ASK_EVERY_MS = 500;

/** Imports files with one JSON object per line. @returns the exit code: 1 if a line failed. */
export async function importFiles(context: CommandContext, options: ImportOptions): Promise<number> {
  const files = ORDER.flatMap((kind) => (options[kind] ?? []).map((path) => ({ kind, path })));
  if (files.length === 0)
    throw new CommandError('Nothing to import: give at least one of --members, --refs, --follows, --actions');
  await checkReadable(files);
  const mapping = mappingOf(options, files);
  const stage: Stage = { says: () => 'Interrupted before anything was imported.' };
  const farewell = () => stage.says();
  if (options.dryRun === true) {
    endOnSignals(context.terminal, { farewell: () => 'Interrupted. Nothing was written.' });
    return runImport(context, files, NOWHERE, { ...options, wait: false, mapping }, stage);
  }
  if (options.url !== undefined) {
    endOnSignals(context.terminal, { farewell });
    const client = await connectToServer(context, { ...options, url: options.url });
    return runImport(context, files, apiTarget(client), { ...options, mapping }, stage);
  }
  const config = configOf(context, { needsKey: false });
  const acting = actingFor(config, options);
  await using runtime = await openRuntime(context, {
    config,
    parts: { api: false, worker: options.worker },
    voice: 'command',
    farewell,
  });
  const { app } = runtime;
  const target = servicesTarget(app.core, acting, {
    openFanOuts: () => app.openFanOuts(),
    workers: () => readWork(app.core, OPERATOR).workers(),
  });
  return await runImport(
    context,
    files,
    target,
    { ...options, mapping, wait: options.wait === true || options.worker },
    stage,
  );
}

/** Takes everything and keeps nothing. */
const NOWHERE: ImportTarget = {
  writers: { members: allOf, refs: allOf, follows: allOf, actions: allOf },
  openFanOuts: () => Promise.resolve(0),
  workers: () => Promise.resolve(0),
};

function allOf(): Promise<BatchOutcome> {
  return Promise.resolve({ replays: 0, faults: [] });
}

function mappingOf({ format }: ImportOptions, files: readonly InputFile[]): Mapping | null {
  if (format === undefined) return null;
  const mapping = new Mapping(format);
  const [missing] = mapping.missing(files.map(({ kind }) => kind));
  if (missing !== undefined) throw new CommandError(`--${missing}: ${format} has nothing of the kind`);
  return mapping;
}

/** Progress of the import, shown on interruption. */
interface Stage {
  says: () => string;
}

interface InputFile {
  readonly kind: RecordKind;
  readonly path: string;
}

async function runImport(
  { terminal }: CommandContext,
  files: readonly InputFile[],
  target: ImportTarget,
  options: ImportOptions & { readonly mapping: Mapping | null },
  stage: Stage,
): Promise<number> {
  const report = faultReport(terminal);
  const { mapping } = options;
  let actions = 0;
  for (const { kind, path } of files) {
    const startedAt = performance.now();
    using progress = openProgress(terminal, kind.padEnd(KIND_WIDTH));
    let done = 0;
    stage.says = () =>
      `Interrupted in ${path} after ${count(done, 'line')}. Run the same command again to continue: nothing is recorded twice.`;
    const imported = await importFile(kind, path, {
      writers: target.writers,
      mapLine: mapping === null ? undefined : (of, line) => mapping.line(of, line),
      inFlight: options.inFlight,
      onProgress: (fraction, lines) => {
        done = lines;
        progress.update(fraction, count(lines, 'line'));
      },
      onFault: (place, message) => report.add(place, message),
    }).catch((error: unknown) => {
      throw new CommandError(stoppedMessage(path, error), { cause: error });
    });
    progress[Symbol.dispose]();
    terminal.out(summary(imported, secondsSince(startedAt), options.dryRun === true ? 'good' : 'written'));
    if (kind === 'actions') actions += imported.written;
  }
  for (const line of mapping?.report() ?? []) terminal.out(visible(line));
  if (options.dryRun === true) terminal.note('Nothing was written: this was a dry run.');
  if (options.wait === true) {
    const missing = new MissingWorker(terminal, {
      workers: () => target.workers(),
      withinMs: options.waitForWorker,
      instead: 'The next worker delivers the rest.',
      state: 'Everything is imported; the next worker delivers the rest.',
    });
    await waitForFanOut(terminal, target, { written: actions, missing }, stage);
  }
  if (report.count() === 0) return 0;
  terminal.note(`${count(report.count(), 'line')} could not be imported.`);
  return 1;
}

/** @param given.written actions of this import: most of the pending deliveries, some of which are already done. */
async function waitForFanOut(
  terminal: Terminal,
  target: ImportTarget,
  { written, missing }: { readonly written: number; readonly missing: MissingWorker },
  stage: Stage,
): Promise<void> {
  const startedAt = performance.now();
  stage.says = () =>
    'Interrupted while delivering. Everything is imported; the next worker delivers the rest.';
  let open = await target.openFanOuts();
  const all = Math.max(written, open);
  terminal.note('Delivering. You may interrupt this: the next worker delivers the rest.');
  using progress = openProgress(terminal, 'fan-out'.padEnd(KIND_WIDTH));
  for (; open > 0; open = await target.openFanOuts()) {
    progress.update(Math.max(0, 1 - open / all), `${count(open, 'action')} left`);
    await missing.look();
    await delay(ASK_EVERY_MS);
  }
  progress.update(1, 'all delivered');
  progress[Symbol.dispose]();
  terminal.out(`${'fan-out'.padEnd(KIND_WIDTH)} done after ${secondsSince(startedAt).toFixed(1)} s`);
}

function faultReport(terminal: Terminal) {
  let faults = 0;
  return {
    count: () => faults,
    add(place: string, message: string): void {
      faults += 1;
      if (faults <= MAX_SHOWN_FAULTS) terminal.note(visible(`${place}: ${message}`));
      if (faults === MAX_SHOWN_FAULTS) terminal.note('Further errors are counted but not shown.');
    },
  };
}

function summary(file: ImportedFile, seconds: number, taken: 'good' | 'written'): string {
  const parts = [
    `${count(file.lines, 'line')} in ${seconds.toFixed(1)} s`,
    `${count(file.written)} ${taken}`,
  ];
  if (file.replays > 0) parts.push(`${count(file.replays)} already recorded`);
  if (file.faults > 0) parts.push(`${count(file.faults)} bad`);
  return `${file.kind.padEnd(KIND_WIDTH)} ${parts.join(', ')}`;
}

function stoppedMessage(path: string, error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  if (error instanceof DamagedFile)
    return `Stopped: ${reason}\nWhat stands before that is imported. Make the file again, and import it: nothing is recorded twice.`;
  return `Stopped in ${path}: ${reason}\nRun the same command again to continue: nothing is recorded twice.`;
}

async function checkReadable(files: readonly InputFile[]): Promise<void> {
  for (const { kind, path } of files) {
    const status = await access(path, constants.R_OK)
      .then(() => stat(path))
      .catch((error: unknown) => {
        throw new CommandError(`--${kind} ${path} cannot be read`, { cause: error });
      });
    if (status.isDirectory()) throw new CommandError(`--${kind} ${path} is a folder`);
    // It could be read once only, so the import could not be repeated.
    if (status.isFIFO() || status.isSocket())
      throw new CommandError(`--${kind} ${path} is a pipe: write its lines to a file, and import that`);
  }
}

function count(amount: number, noun?: string): string {
  const number = amount.toLocaleString('en');
  return noun === undefined ? number : `${number} ${noun}${amount === 1 ? '' : 's'}`;
}

function secondsSince(startedAt: number): number {
  return (performance.now() - startedAt) / 1_000;
}
