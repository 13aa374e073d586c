import type { AddCommands } from '../../../src/app/command-shapes.ts';
import { TENANT } from '../../../src/cli/context.ts';
import type { ConsumeOptions } from './command.ts';

/** `fanfare consume`. */
export const addConsume: AddCommands = (program, context) => {
  program
    .command('consume')
    .description(
      'record actions from a stream until it is stopped: redis://host/stream or nats://host/stream',
    )
    .argument('<url>', 'address of the server, with the name of the stream as its path')
    .option('--group <name>', 'processes of one group share the messages', 'fanfare')
    .option(...TENANT)
    .option('--no-worker', 'do not run a worker here; workers elsewhere do the fan-out')
    .addHelpText('after', NOTES)
    .action(async (url: string, options: ConsumeOptions) => {
      const { consumeStream } = await import('./command.ts');
      await consumeStream(context(), url, options);
    });
};

const NOTES = `
Each message is a line as fanfare import takes it for --actions, in Redis in the field "line". It is acknowledged once it is
recorded. What cannot be recorded goes to a stream of the same name with -refused at its end, with the reason.`;
