import { type AddCommands, TENANT, TOKEN } from '../../../../src/cli/context.ts';
import type { ExportOptions } from './export.ts';

/** `fanfare export`. */
export const addExport: AddCommands = (program, context) => {
  program
    .command('export')
    .description('write everything stored about a member as JSON')
    .requiredOption('--member <id>', 'id of the member')
    .option(...TENANT)
    .option('--out <file>', 'file to create; default: stdout')
    .option('--url <url>', 'use the API of a running server, which returns up to 4 MiB')
    .option(...TOKEN)
    .action(async (options: ExportOptions) => {
      const { exportMember } = await import('./export.ts');
      await exportMember(context(), options);
    });
};
