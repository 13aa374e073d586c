import { Option, type Command } from 'commander';
import type { CommandContext } from './context.ts';
import type { DemoOptions } from './demo.ts';
import type { DoctorOptions } from './doctor.ts';
import { atLeastOne } from './options.ts';
import type { ShardOptions } from './shard.ts';
import { sayLoading } from './waiting-line.ts';

export function addInstallationCommands(
  program: Command,
  context: () => CommandContext,
  exit: (code: number) => void,
): void {
  program
    .command('demo')
    .description(
      'play a small recruiting story, then publish live actions to watch in the terminal and on a page',
    )
    .option(
      '--url <url>',
      'server to play it on; default: the one running on the same DATA_DIR, otherwise a new one',
    )
    .option(
      '--token <token>',
      'token for --url, of the user demo with the role service; default: one signed with the available key',
    )
    .option('--interval <duration>', 'time between live actions', '2s')
    .option('--trace [duration]', 'play the sample trace instead, within this time; default: 1m')
    .option('--count <n>', 'stop after this many live actions; default: when interrupted', atLeastOne)
    .action(async (options: DemoOptions) => {
      sayLoading(context().terminal);
      const { demo } = await import('./demo.ts');
      await demo(context(), options);
    });

  program
    .command('shard')
    .description('print, run or check the commands that shard the database')
    .addOption(
      new Option('--run', 'shard collections that are not sharded yet, on mongos at MONGODB_URI').conflicts(
        'status',
      ),
    )
    .option('--status', 'print the shard key of each collection on mongos at MONGODB_URI')
    .action(async (options: ShardOptions) => {
      const { shard } = await import('./shard.ts');
      exit(await shard(context(), options));
    });
}

export function addProjectCommands(
  program: Command,
  context: () => CommandContext,
  exit: (code: number) => void,
): void {
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
      schema(context());
    });
}
