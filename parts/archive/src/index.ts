import type { AddCommands } from '../../../src/app/command-shapes.ts';
import { waitForWorkerOption } from '../../../src/cli/wait-for-worker.ts';
import type { OffloadOptions, RestoreOptions } from './commands.ts';

/** `fanfare offload` and `fanfare restore`. */
export const addArchive: AddCommands = (program, context, exit) => {
  program
    .command('offload')
    .description('move old actions without recent activity from the database to a file')
    .requiredOption(
      '--before <day>',
      'move actions without activity since this time, such as 2025-12-31 (UTC)',
    )
    .requiredOption('--to <file>', 'file to create, one JSON object per line, gzip if it ends in .gz')
    .option('--no-worker', 'do not run a worker here; workers elsewhere update the feeds')
    .addOption(waitForWorkerOption())
    .action(async (options: OffloadOptions) => {
      const { offload } = await import('./commands.ts');
      exit(await offload(context(), options));
    });

  program
    .command('restore')
    .description('bring back actions from a file of offload')
    .argument('<file>', 'file written by offload')
    .option('--no-worker', 'do not run a worker here; workers elsewhere update the feeds')
    .action(async (file: string, options: RestoreOptions) => {
      const { restore } = await import('./commands.ts');
      await restore(context(), file, options);
    });
};
