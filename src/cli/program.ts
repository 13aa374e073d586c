import { Command, InvalidArgumentError, Option } from 'commander';
import type { CommandContext } from './context.ts';
import type { DemoOptions } from './demo.ts';
import type { DoctorOptions } from './doctor.ts';
import type { ExportOptions } from './export.ts';
import type { ImportOptions } from './import.ts';
import { planOptions } from './plan/options.ts';
import { packageVersion } from './package-info.ts';
import type { PlanOptions } from './plan.ts';
import { processCount } from './processes/count.ts';
import type { OffloadOptions, RestoreOptions } from './offload.ts';
import type { RebuildOptions } from './rebuild.ts';
import type { ShardOptions } from './shard.ts';
import type { ServeOptions } from './serve.ts';
import { addTenantCommands } from './tenant-commands.ts';
import type { TokenOptions } from './token.ts';
import type { WorkerOptions } from './worker.ts';
import { sayLoading } from './waiting-line.ts';

// Every action imports its command when it is called: help and tokens should not wait for databases to be loaded.

/**
 * The command line. Errors of usage are thrown as CommanderError after they were explained.
 * @param exit takes the exit code of a command that has one to give.
 */
export async function createProgram(given: CommandContext, exit: (code: number) => void): Promise<Command> {
  let context = given;
  const program = new Command('fanfare')
    .description('Activity-feed server: record actions, give every reader a personal feed, push it live.')
    .version(await packageVersion())
    .option(
      '--config <file>',
      'types of actions and more; default: FANFARE_CONFIG, else fanfare.config.{ts,mjs,js} here',
    )
    .exitOverride()
    .configureOutput({
      getOutHelpWidth: () => HELP_WIDTH,
      writeOut: (text) => {
        context.terminal.out(text.trimEnd());
      },
      writeErr: (text) => {
        context.terminal.note(text.trimEnd());
      },
    })
    .showHelpAfterError('Help: npx fanfare --help')
    .addHelpText('after', EXAMPLES)
    .hook('preAction', async (root, command) => {
      if (NEEDS_NO_TYPES.has(command.name())) return;
      const { withHostConfig } = await import('./host-config-file.ts');
      context = await withHostConfig(given, root.opts<{ readonly config?: string }>().config);
    });

  program
    .command('serve')
    .description('run the API and a fan-out worker; databases that have no address are started locally')
    .option('--no-worker', 'the API only; workers run elsewhere')
    .addOption(processesOption())
    .option(...TELEMETRY)
    .action(async (options: ServeOptions) => {
      sayLoading(context.terminal);
      const { serve } = await import('./serve.ts');
      await serve(context, options);
    });

  program
    .command('worker')
    .description('run a fan-out worker without the API')
    .option('--health', 'only say by the exit code whether the worker of this container or DATA_DIR works')
    .addOption(processesOption())
    .option(...TELEMETRY)
    .action(async (options: WorkerOptions) => {
      if (options.health === true) {
        const { workerHealth } = await import('./worker-health.ts');
        exit(await workerHealth(context));
        return;
      }
      sayLoading(context.terminal);
      const { worker } = await import('./worker.ts');
      await worker(context, options);
    });

  program
    .command('token')
    .description('print a token')
    .requiredOption('--sub <user>', 'id of the user it is for')
    .option('--roles <roles>', 'some of user, service, admin, operator, separated by commas', 'user')
    .option('--expires <duration>', 'how long it is good for', '30d')
    .option(...TENANT)
    .action(async (options: TokenOptions) => {
      const { token } = await import('./token.ts');
      await token(context, options);
    });

  program
    .command('import')
    .description('import files of one JSON object per line, plain or gzip')
    .option('--members <files...>', 'people: the fields of MemberInput')
    .option('--refs <files...>', 'things: the fields of RefInput')
    .option('--follows <files...>', 'who follows what: the fields of FollowInput')
    .option('--actions <files...>', 'actions: the fields of PublishActionInput')
    .option(...TENANT)
    .option(
      '--url <url>',
      'import through the API of a running server instead of straight into the databases',
    )
    .option('--token <token>', 'for --url; default: one signed with JWT_SECRET or the secret in DATA_DIR')
    .option(
      '--in-flight <n>',
      'batches under way at once; 1 keeps the order of the file strictly',
      atLeastOne,
      3,
    )
    .option('--no-worker', 'without --url: leave the fan-out to workers that run elsewhere')
    .option('--wait', 'do not end before everything is delivered (without --url this is so anyway)')
    .addHelpText('after', IMPORT_NOTES)
    .action(async (options: ImportOptions) => {
      const { importFiles } = await import('./import.ts');
      exit(await importFiles(context, options));
    });

  program
    .command('export')
    .description('write everything held about a member as JSON')
    .requiredOption('--member <id>', 'id of the member')
    .option(...TENANT)
    .option('--out <file>', 'a new file to write to; default: stdout')
    .option('--url <url>', 'ask the API of a running server, which gives up to 4 MiB')
    .option('--token <token>', 'for --url; default: one signed with JWT_SECRET or the secret in DATA_DIR')
    .action(async (options: ExportOptions) => {
      const { exportMember } = await import('./export.ts');
      await exportMember(context, options);
    });

  program
    .command('rebuild')
    .description('rebuild the stored feeds of all readers from the actions, as after a change of FEED_MODEL')
    .option('--member <id>', 'of this member only')
    .option(...TENANT)
    .option('--url <url>', 'ask the API of a running server, with --member')
    .option('--token <token>', 'for --url; default: one signed with JWT_SECRET or the secret in DATA_DIR')
    .action(async (options: RebuildOptions) => {
      const { rebuild } = await import('./rebuild.ts');
      await rebuild(context, options);
    });

  program
    .command('offload')
    .description('take actions with which nothing has happened for long out of the database, to a file')
    .requiredOption('--before <day>', 'nothing has happened with them since, such as 2025-12-31 (UTC)')
    .requiredOption('--to <file>', 'a new file of one JSON object per line, gzip if it ends in .gz')
    .option('--no-worker', 'leave the feeds to workers that run elsewhere')
    .action(async (options: OffloadOptions) => {
      const { offload } = await import('./offload.ts');
      exit(await offload(context, options));
    });

  program
    .command('restore')
    .description('bring back what offload has taken out')
    .argument('<file>', 'as offload has written it')
    .option('--no-worker', 'leave the feeds to workers that run elsewhere')
    .action(async (file: string, options: RestoreOptions) => {
      const { restore } = await import('./offload.ts');
      await restore(context, file, options);
    });

  program
    .command('demo')
    .description(
      'play a small recruiting story and go on with live actions to watch, in the terminal and on a page',
    )
    .option(
      '--url <url>',
      'play it on this server; default: the one that runs on the same DATA_DIR, else one is started',
    )
    .option(
      '--token <token>',
      'for --url, of the user demo with the role service; default: one signed with the key at hand',
    )
    .option('--interval <duration>', 'time between live actions', '2s')
    .option('--trace [duration]', 'play the sample trace in so long, by default 1m, instead')
    .option('--count <n>', 'end after so many live actions; default: when interrupted', atLeastOne)
    .action(async (options: DemoOptions) => {
      sayLoading(context.terminal);
      const { demo } = await import('./demo.ts');
      await demo(context, options);
    });

  program
    .command('shard')
    .description(
      'print what shards the database, one command of mongosh a line; run it, or say what is there',
    )
    .addOption(
      new Option('--run', 'shard what is not sharded yet, on mongos at MONGODB_URI').conflicts('status'),
    )
    .option('--status', 'say by what each collection is sharded on mongos at MONGODB_URI')
    .action(async (options: ShardOptions) => {
      const { shard } = await import('./shard.ts');
      exit(await shard(context, options));
    });

  addTenantCommands(program, () => context);

  const plan = program
    .command('plan')
    .description('say how many machines, how much storage and what delay an installation of a size has');
  for (const option of planOptions()) plan.addOption(option);
  plan.action(async (options: PlanOptions) => {
    const { plan: run } = await import('./plan.ts');
    await run(context, options);
  });

  program
    .command('doctor')
    .description('show what is configured, what answers and what is missing')
    .option('--settings', 'only list the settings: variable, default, meaning, and value where one is given')
    .option('--markdown', 'with --settings: as a table for documents')
    .action(async (options: DoctorOptions) => {
      const { doctor } = await import('./doctor.ts');
      exit(await doctor(context, options));
    });

  program
    .command('init')
    .description('make a small project with types of its own in an empty folder')
    .argument('[folder]', 'where', '.')
    .action(async (folder: string) => {
      const { init } = await import('./init.ts');
      await init(context, folder);
    });

  program
    .command('schema')
    .description('print the schema of the API with the types of the configuration, as SDL')
    .action(async () => {
      const { schema } = await import('./schema.ts');
      schema(context);
    });

  return program;
}

const TELEMETRY = ['--telemetry', 'send traces by OpenTelemetry, as its variables OTEL_… say'] as const;

const TENANT = ['--tenant <name>', 'where TENANT_CLAIM is set: the tenant it is for'] as const;

function processesOption(): Option {
  return new Option(
    '--processes <n>',
    'processes that do this side by side, one for each core: a number or auto',
  )
    .argParser(processCount)
    .default(1);
}

function atLeastOne(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new InvalidArgumentError('Expected a whole number from 1.');
  return value;
}

/** Commands that work without the types of actions. */
const NEEDS_NO_TYPES: ReadonlySet<string> = new Set(['init', 'plan', 'token']);

const HELP_WIDTH = 110;

const EXAMPLES = `
Settings are environment variables: npx fanfare doctor --settings

Examples:
  npx fanfare serve                                   API and worker on http://127.0.0.1:4000
  npx fanfare token --sub u1 --roles service,admin    a token for the user u1
  npx fanfare demo                                    something to look at
  npx fanfare import --members members.ndjson --refs refs.ndjson.gz \\
                     --follows follows.ndjson --actions actions.ndjson.gz
  npx fanfare import --actions actions.ndjson --url http://127.0.0.1:4000
  MONGODB_URI=mongodb://db/ REDIS_URL=redis://redis/ npx fanfare worker`;

const IMPORT_NOTES = `
Members and refs are imported first, then follows, then actions. Bad lines are reported with file and line, left out,
and make the exit code 1. Importing again is safe: actions are recognised by their idempotencyKey, or by their line.`;
