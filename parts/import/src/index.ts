import { Option } from 'commander';
import type { AddCommands } from '../../../src/app/command-shapes.ts';
import { TENANT, TOKEN, wholeNumber } from '../../../src/cli/context.ts';
import { waitForWorkerOption } from '../../../src/cli/wait-for-worker.ts';
import type { ImportOptions } from './import.ts';

/** More batches would only hold more of the file in memory. */
const MOST_IN_FLIGHT = 256;

/** The formats of `formats/mapping.ts`, which is loaded when the command runs. */
const PRODUCTS: readonly string[] = ['getstream', 'knock', 'activitystreams'];

/** `fanfare import`. */
export const addImport: AddCommands = (program, context, exit) => {
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
      'import through the API of a running server instead of directly into the databases',
    )
    .option(...TOKEN)
    .option(
      '--in-flight <n>',
      'number of concurrent batches; 1 keeps the order of the file',
      wholeNumber(MOST_IN_FLIGHT),
      3,
    )
    .addOption(new Option('--format <product>', 'the files are an export of this product').choices(PRODUCTS))
    .option('--dry-run', 'read, map and check the lines, and write nothing')
    .option('--no-worker', 'without --url: do not run a worker here; workers elsewhere do the fan-out')
    .option('--wait', 'wait until everything is delivered (always the case without --url)')
    .addOption(waitForWorkerOption())
    .addHelpText('after', IMPORT_NOTES)
    .action(async (options: ImportOptions) => {
      const { importFiles } = await import('./import.ts');
      exit(await importFiles(context(), options));
    });
};

const IMPORT_NOTES = `
Members and refs are imported first, then follows, then actions. Bad lines are reported with file and line, left out,
and make the exit code 1. Importing again is safe: actions are recognised by their idempotencyKey, or by their line.`;
