import type { CommandContext } from '../app/command-shapes.ts';
import type { Part } from '../app/part.ts';
import { availableParallelism } from 'node:os';
import { Command, Option } from 'commander';
import { ownCommand, packageVersion } from '../lib/package-info.ts';
import { wholeNumber } from './context.ts';
import type { ServerParts } from './runtime.ts';
import type { ServeOptions } from './serve.ts';
import { sayLoading } from './waiting-line.ts';
import type { WorkerCommandOptions } from './worker.ts';

function addServerCommands(
  parts: ServerParts,
  program: Command,
  context: () => CommandContext,
  exit: (code: number) => void,
): void {
  const serve = program
    .command('serve')
    .description('run the API and a fan-out worker; without addresses, local databases are started')
    .option('--no-worker', 'run only the API; workers run elsewhere')
    .option(...TELEMETRY)
    .action(async (options: ServeOptions) => {
      sayLoading(context().terminal);
      const { serve: run } = await import('./serve.ts');
      await run(context(), parts, options);
    });

  const worker = program
    .command('worker')
    .description('run a fan-out worker without the API')
    .option(
      '--health',
      'do not run; report in the exit code whether the worker of this container or DATA_DIR works',
    )
    .option(...TELEMETRY)
    .action(async (options: WorkerCommandOptions) => {
      if (options.health === true) {
        const { workerHealth } = await import('./worker-health.ts');
        exit(await workerHealth(context()));
        return;
      }
      sayLoading(context().terminal);
      const { worker: run } = await import('./worker.ts');
      await run(context(), parts, options);
    });

  if (parts.processes !== undefined)
    for (const command of [serve, worker]) command.addOption(processesOption());
}

const TELEMETRY = ['--telemetry', 'send OpenTelemetry traces, configured by the OTEL_… variables'] as const;

function processesOption(): Option {
  return new Option('--processes <n>', 'number of processes, or auto for one per core')
    .argParser((text) => parseCount(text === 'auto' ? String(availableParallelism()) : text))
    .default(1);
}

function serverPartsOf(parts: readonly Part[]): ServerParts {
  return {
    processes: parts.find(({ processes }) => processes !== undefined)?.processes,
    people: parts.flatMap(({ people = [] }) => people),
  };
}

const parseCount = wholeNumber(256, ', or auto');

// Every action imports its command when called: help and tokens should not wait for databases to load.

/** Usage errors are explained, then thrown as CommanderError. @param exit receives a command's exit code. */
export async function createProgram(
  given: CommandContext,
  parts: readonly Part[],
  exit: (code: number) => void,
): Promise<Command> {
  let context = given;
  const program = new Command('fanfare')
    .description('Activity-feed server: record actions, give every reader a personal feed, push it live.')
    .version(await packageVersion())
    .option(
      '--config <file>',
      'configuration file with action types and more; default: FANFARE_CONFIG, otherwise fanfare.config.{ts,mjs,js} here',
    )
    .exitOverride()
    .configureHelp({ sortSubcommands: true })
    .configureOutput({
      getOutHelpWidth: () => HELP_WIDTH,
      writeOut: (text) => context.terminal.out(text.trimEnd()),
      writeErr: (text) => context.terminal.note(text.trimEnd()),
    })
    .addHelpText('after', examples(ownCommand()))
    .hook('preAction', async (root, command) => {
      if (NEEDS_NO_TYPES.has(command.name())) return;
      const { withHostConfig } = await import('./host-config-file.ts');
      const hostParts = parts.flatMap(({ host }) => host ?? []);
      context = await withHostConfig(given, root.opts<{ readonly config?: string }>().config, hostParts);
    });

  const now = (): CommandContext => context;
  addServerCommands(serverPartsOf(parts), program, now, exit);
  const examinations = parts.flatMap(({ examination }) => examination ?? []);
  for (const { commands } of parts) commands?.(program, now, exit, examinations);
  sayWhereHelpIs(program, ownCommand());
  return program;
}

/** After a usage error: the help of the command that was used. */
function sayWhereHelpIs(command: Command, name: string): void {
  command.showHelpAfterError(`Help: ${name} --help`);
  for (const sub of command.commands) sayWhereHelpIs(sub, `${name} ${sub.name()}`);
}

/** Commands that work without the types of actions. */
const NEEDS_NO_TYPES: ReadonlySet<string> = new Set(['init', 'plan', 'token']);

const HELP_WIDTH = 110;

const examples = (command: string): string => `
Settings are environment variables: ${command} doctor --settings

Examples:
  ${command} serve                                   API and worker on http://127.0.0.1:4000
  ${command} token --sub u1 --roles service,admin    a token for the user u1
  ${command} demo                                    something to look at
  ${command} import --members members.ndjson --refs refs.ndjson.gz \\
      --follows follows.ndjson --actions actions.ndjson.gz
  ${command} import --actions actions.ndjson --url http://127.0.0.1:4000
  MONGODB_URI=mongodb://db/ REDIS_URL=redis://redis/ ${command} worker`;
