import type { Command } from 'commander';
import type { CommandContext } from './context.ts';
import type { ExportOptions } from './export.ts';
import type { ImportOptions } from './import.ts';
import { batchCount, TENANT } from './options.ts';
import type { RebuildOptions } from './rebuild.ts';
import { waitForWorkerOption } from './wait-for-worker.ts';

export function addDataCommands(
  program: Command,
  context: () => CommandContext,
  exit: (code: number) => void,
): void {
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
    .option(
      '--token <token>',
      'token for --url; default: one signed with JWT_SECRET or the secret in DATA_DIR',
    )
    .option('--in-flight <n>', 'number of concurrent batches; 1 keeps the order of the file', batchCount, 3)
    .option('--no-worker', 'without --url: do not run a worker here; workers elsewhere do the fan-out')
    .option('--wait', 'wait until everything is delivered (always the case without --url)')
    .addOption(waitForWorkerOption())
    .addHelpText('after', IMPORT_NOTES)
    .action(async (options: ImportOptions) => {
      const { importFiles } = await import('./import.ts');
      exit(await importFiles(context(), options));
    });

  program
    .command('export')
    .description('write everything stored about a member as JSON')
    .requiredOption('--member <id>', 'id of the member')
    .option(...TENANT)
    .option('--out <file>', 'file to create; default: stdout')
    .option('--url <url>', 'use the API of a running server, which returns up to 4 MiB')
    .option(
      '--token <token>',
      'token for --url; default: one signed with JWT_SECRET or the secret in DATA_DIR',
    )
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
    .option(
      '--token <token>',
      'token for --url; default: one signed with JWT_SECRET or the secret in DATA_DIR',
    )
    .action(async (options: RebuildOptions) => {
      const { rebuild } = await import('./rebuild.ts');
      await rebuild(context(), options);
    });
}

const IMPORT_NOTES = `
Members and refs are imported first, then follows, then actions. Bad lines are reported with file and line, left out,
and make the exit code 1. Importing again is safe: actions are recognised by their idempotencyKey, or by their line.`;
