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
    .description('run the API and a fan-out worker; without addresses, local databases are started')
    .option('--no-worker', 'run only the API; workers run elsewhere')
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
    .option(
      '--health',
      'do not run; report in the exit code whether the worker of this container or DATA_DIR works',
    )
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
    .requiredOption('--sub <user>', 'user id')
    .option('--roles <roles>', 'one or more of user, service, admin, operator, separated by commas', 'user')
    .option('--expires <duration>', 'validity', '30d')
    .option(...TENANT)
    .action(async (options: TokenOptions) => {
      const { token } = await import('./token.ts');
      await token(context(), options);
    });
}

const TELEMETRY = ['--telemetry', 'send OpenTelemetry traces, configured by the OTEL_… variables'] as const;

function processesOption(): Option {
  return new Option('--processes <n>', 'number of processes, or auto for one per core')
    .argParser(processCount)
    .default(1);
}
