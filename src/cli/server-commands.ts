import { Option, type Command } from 'commander';
import type { CommandContext } from './context.ts';
import { TENANT } from './options.ts';
import { processCount } from './processes/count.ts';
import type { ServeOptions } from './serve.ts';
import type { TokenOptions } from './token.ts';
import { sayLoading } from './waiting-line.ts';
import type { WorkerCommandOptions } from './worker.ts';

export function addServerCommands(
  program: Command,
  context: () => CommandContext,
  exit: (code: number) => void,
): void {
  program
    .command('serve')
    .description('run the API and a fan-out worker; databases that have no address are started locally')
    .option('--no-worker', 'the API only; workers run elsewhere')
    .addOption(processesOption())
    .option(...TELEMETRY)
    .action(async (options: ServeOptions) => {
      sayLoading(context().terminal);
      const { serve } = await import('./serve.ts');
      await serve(context(), options);
    });

  program
    .command('worker')
    .description('run a fan-out worker without the API')
    .option('--health', 'only say by the exit code whether the worker of this container or DATA_DIR works')
    .addOption(processesOption())
    .option(...TELEMETRY)
    .action(async (options: WorkerCommandOptions) => {
      if (options.health === true) {
        const { workerHealth } = await import('./worker-health.ts');
        exit(await workerHealth(context()));
        return;
      }
      sayLoading(context().terminal);
      const { worker } = await import('./worker.ts');
      await worker(context(), options);
    });

  program
    .command('token')
    .description('print a token')
    .requiredOption('--sub <user>', 'id of the user it is for')
    .option('--roles <roles>', 'some of user, service, admin, operator, separated by commas', 'user')
    .option('--expires <duration>', 'how long it is good for', '30d')
    .option(...TENANT)
    .action(async (options: TokenOptions) => {
      const { token } = await import('./token.ts');
      await token(context(), options);
    });
}

const TELEMETRY = ['--telemetry', 'send traces by OpenTelemetry, as its variables OTEL_… say'] as const;

function processesOption(): Option {
  return new Option(
    '--processes <n>',
    'processes that do this side by side, one for each core: a number or auto',
  )
    .argParser(processCount)
    .default(1);
}
