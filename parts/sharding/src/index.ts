import { Option } from 'commander';
import type { AddCommands } from '../../../src/app/command-shapes.ts';
import type { ShardOptions } from './shard.ts';

/** `fanfare shard`. */
export const addShard: AddCommands = (program, context, exit) => {
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
};
