import type { AddCommands } from '../../../src/app/command-shapes.ts';
import { TENANT, TOKEN } from '../../../src/cli/context.ts';
import { OPERATOR, ROLES } from '../../../src/domain/viewer.ts';
import type { DoctorOptions } from './doctor.ts';
import type { ExportOptions } from './export.ts';
import type { RebuildOptions } from './rebuild.ts';
import type { TokenOptions } from './token.ts';

/** `fanfare token`, `export`, `rebuild`, `doctor`, `init` and `schema`. */
export const addOperators: AddCommands = (program, context, exit, examinations) => {
  program
    .command('token')
    .description('print a token')
    .requiredOption('--sub <user>', 'user id')
    .option(
      '--roles <roles>',
      `one or more of ${[...ROLES, OPERATOR].join(', ')}, separated by commas`,
      'user',
    )
    .option('--expires <duration>', 'validity', '30d')
    .option(...TENANT)
    .action(async (options: TokenOptions) => {
      const { token } = await import('./token.ts');
      await token(context(), options);
    });

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

  program
    .command('doctor')
    .description('check the configuration, the databases and running servers')
    .option('--settings', 'only list the settings: variable, default, meaning, and current value if set')
    .option('--markdown', 'with --settings: as a Markdown table')
    .action(async (options: DoctorOptions) => {
      const { doctor } = await import('./doctor.ts');
      exit(await doctor(context(), options, examinations));
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
    .option(
      '--types <file>',
      'instead write TypeScript of the types of actions for a frontend, such as src/fanfare.d.ts, and beside it the module with its fields',
    )
    .action(async ({ types }: { readonly types?: string }) => {
      if (types !== undefined) {
        const { writeOwnTypes } = await import('./own-types.ts');
        await writeOwnTypes(context(), types);
        return;
      }
      const { printedSchema } = await context().composed();
      context().terminal.out((await printedSchema()).trimEnd());
    });
};
