import type { AddCommands } from '../../../src/app/command-shapes.ts';
import { wholeNumber } from '../../../src/cli/context.ts';
import { sayLoading } from '../../../src/cli/waiting-line.ts';
import type { DemoOptions } from './demo.ts';

/** `fanfare demo`. */
export const addDemo: AddCommands = (program, context) => {
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
    .option('--count <n>', 'stop after this many live actions; default: when interrupted', wholeNumber())
    .action(async (options: DemoOptions) => {
      sayLoading(context().terminal);
      const { demo } = await import('./demo.ts');
      await demo(context(), options);
    });
};
