import type { AddCommands, CommandContext, Examination } from '../app/command-shapes.ts';
import { availableParallelism } from 'node:os';
import { Command, Option } from 'commander';
import { ownCommand, packageVersion } from '../lib/package-info.ts';
import { wholeNumber } from './context.ts';
import type { ServerParts } from './runtime.ts';
import type { ServeOptions } from './serve.ts';
import { sayLoading } from './waiting-line.ts';
import type { WorkerCommandOptions } from './worker.ts';

/** What is put into the program beside `serve` and `worker`. */
export interface ProgramParts extends ServerParts {
  /** In the order in which the help lists them. */
  readonly commands: readonly AddCommands[];
  readonly examinations: readonly Examination[];
}

function addServerCommands(
  parts: ServerParts,
  program: Command,
  context: () => CommandContext,
  exit: (code: number) => void,
): void {
  program
    .command('serve')
    .description('run the API and a fan-out worker; without addresses, local databases are started')
    .option('--no-worker', 'run only the API; workers run elsewhere')
    .addOption(processesOption())
    .option(...TELEMETRY)
    .action(async (options: ServeOptions) => {
      sayLoading(context().terminal);
      const { serve } = await import('./serve.ts');
      await serve(context(), parts, options);
    });

  program
    .command('worker')
    .description('run a fan-out worker without the API')
    .option(
      '--health',
      'do not run; report in the exit code whether the worker of this container or DATA_DIR works',
    )
    .addOption(processesOption())
    .option(...TELEMETRY)
    .action(async (options: WorkerCommandOptions) => {
      if (options.health === true) {
        const { workerHealth } = await import('./worker-health.ts');
        exit(await workerHealth(context()));
        return;
      }
      sayLoading(context().terminal);
      const { worker } = await import('./worker.ts');
      await worker(context(), parts, options);
    });
}

const TELEMETRY = ['--telemetry', 'send OpenTelemetry traces, configured by the OTEL_… variables'] as const;

function processesOption(): Option {
  return new Option('--processes <n>', 'number of processes, or auto for one per core')
    .argParser((text) => parseCount(text === 'auto' ? String(availableParallelism()) : text))
    .default(1);
}

const parseCount = wholeNumber(256, ', or auto');

// Every action imports its command when called: help and tokens should not wait for databases to load.

/** Usage errors are explained, then thrown as CommanderError. @param exit receives a command's exit code. */
export async function createProgram(
  given: CommandContext,
  parts: ProgramParts,
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
    .configureOutput({
      getOutHelpWidth: () => HELP_WIDTH,
      writeOut: (text) => context.terminal.out(text.trimEnd()),
      writeErr: (text) => context.terminal.note(text.trimEnd()),
    })
    .addHelpText('after', examples(ownCommand()))
    .hook('preAction', async (root, command) => {
      if (NEEDS_NO_TYPES.has(command.name())) return;
      const { withHostConfig } = await import('./host-config-file.ts');
      context = await withHostConfig(given, root.opts<{ readonly config?: string }>().config);
    });

  const now = (): CommandContext => context;
  addServerCommands(parts, program, now, exit);
  for (const add of parts.commands) add(program, now, exit, parts.examinations);
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
