import { Option, type Command } from 'commander';
import type { CommandContext } from './context.ts';
import type { DemoOptions } from './demo.ts';
import type { DoctorOptions } from './doctor.ts';
import { atLeastOne } from './options.ts';
import { planOptions } from './plan/options.ts';
import type { PlanOptions } from './plan.ts';
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
      sayLoading(context().terminal);
      const { demo } = await import('./demo.ts');
      await demo(context(), options);
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
      exit(await shard(context(), options));
    });
}

export function addProjectCommands(
  program: Command,
  context: () => CommandContext,
  exit: (code: number) => void,
): void {
  const plan = program
    .command('plan')
    .description('say how many machines, how much storage and what delay an installation of a size has');
  for (const option of planOptions()) plan.addOption(option);
  plan.action(async (options: PlanOptions) => {
    const { plan: run } = await import('./plan.ts');
    await run(context(), options);
  });

  program
    .command('doctor')
    .description('show what is configured, what answers and what is missing')
    .option('--settings', 'only list the settings: variable, default, meaning, and value where one is given')
    .option('--markdown', 'with --settings: as a table for documents')
    .action(async (options: DoctorOptions) => {
      const { doctor } = await import('./doctor.ts');
      exit(await doctor(context(), options));
    });

  program
    .command('init')
    .description('make a small project with types of its own in an empty folder')
    .argument('[folder]', 'where', '.')
    .action(async (folder: string) => {
      const { init } = await import('./init.ts');
      await init(context(), folder);
    });

  program
    .command('schema')
    .description('print the schema of the API with the types of the configuration, as SDL')
    .action(async () => {
      const { schema } = await import('./schema.ts');
      schema(context());
    });
}
