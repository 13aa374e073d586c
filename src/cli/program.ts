import { Command, Option } from 'commander';
import { ownCommand, packageVersion } from '../lib/package-info.ts';
import { COMMANDS, DATA_COMMANDS, INSTALLATION_COMMANDS } from '../packages/commands.ts';
import { type AddCommands, type CommandContext, TENANT, TOKEN } from './context.ts';
import type { DoctorOptions } from './doctor.ts';
import { processCount } from '../packages/processes.ts';
import type { ServeOptions } from './serve.ts';
import type { TokenOptions } from './token.ts';
import { sayLoading } from './waiting-line.ts';
import type { WorkerCommandOptions } from './worker.ts';
import type { RebuildOptions } from './rebuild.ts';

const addDataCommands: AddCommands = (program, context) => {
  program
    .command('rebuild')
    .description(
      'rebuild the stored feeds of all readers from the actions, for example after a change of FEED_MODEL',
    )
    .option('--member <id>', 'rebuild only the feed of this member')
    .option(...TENANT)
    .option('--url <url>', 'use the API of a running server; requires --member')
    .option(...TOKEN)
    .action(async (options: RebuildOptions) => {
      const { rebuild } = await import('./rebuild.ts');
      await rebuild(context(), options);
    });
};

const addServerCommands: AddCommands = (program, context, exit) => {
  program
    .command('serve')
    .description('run the API and a fan-out worker; without addresses, local databases are started')
    .option('--no-worker', 'run only the API; workers run elsewhere')
    .addOption(processesOption())
    .option(...TELEMETRY)
    .action(async (options: ServeOptions) => {
      sayLoading(context().terminal);
      const { serve } = await import('./serve.ts');
      await serve(context(), options);
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
      await worker(context(), options);
    });

  program
    .command('token')
    .description('print a token')
    .requiredOption('--sub <user>', 'user id')
    .option('--roles <roles>', 'one or more of user, service, admin, operator, separated by commas', 'user')
    .option('--expires <duration>', 'validity', '30d')
    .option(...TENANT)
    .action(async (options: TokenOptions) => {
      const { token } = await import('./token.ts');
      await token(context(), options);
    });
};

const TELEMETRY = ['--telemetry', 'send OpenTelemetry traces, configured by the OTEL_… variables'] as const;

function processesOption(): Option {
  return new Option('--processes <n>', 'number of processes, or auto for one per core')
    .argParser(processCount)
    .default(1);
}

// Every action imports its command when called: help and tokens should not wait for databases to load.

/** Usage errors are explained, then thrown as CommanderError. @param exit receives a command's exit code. */
export async function createProgram(given: CommandContext, exit: (code: number) => void): Promise<Command> {
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
  for (const add of [
    addServerCommands,
    ...DATA_COMMANDS,
    addDataCommands,
    ...COMMANDS,
    ...INSTALLATION_COMMANDS,
    addProjectCommands,
  ])
    add(program, now, exit);
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

const addProjectCommands: AddCommands = (program, context, exit) => {
  program
    .command('doctor')
    .description('check the configuration, the databases and running servers')
    .option('--settings', 'only list the settings: variable, default, meaning, and current value if set')
    .option('--markdown', 'with --settings: as a Markdown table')
    .action(async (options: DoctorOptions) => {
      const { doctor } = await import('./doctor.ts');
      exit(await doctor(context(), options));
    });

  program
    .command('init')
    .description('create a small project with its own action types in an empty folder')
    .argument('[folder]', 'where', '.')
    .action(async (folder: string) => {
      const { init } = await import('./init.ts');
      await init(context(), folder);
    });

  program
    .command('schema')
    .description("print the API's schema, including the configured types, as SDL")
    .action(async () => {
      const { schema } = await import('./schema.ts');
      await schema(context());
    });
};
