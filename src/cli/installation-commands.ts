import { Option, type Command } from 'commander';
import type { CommandContext } from './context.ts';
import type { DoctorOptions } from './doctor.ts';
import type { ShardOptions } from './shard.ts';

export function addInstallationCommands(
  program: Command,
  context: () => CommandContext,
  exit: (code: number) => void,
): void {
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
