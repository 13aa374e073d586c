import type { Config } from '../config/config.ts';
import { EventMover } from '../workers/events/event-mover.ts';
import type { BackgroundWorker } from '../workers/background-worker.ts';
import { logWorkerTrouble } from '../telemetry/events.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Core } from './core.ts';

/** What works on events for hosts; nothing where none are recorded. */
export function eventWorkers(
  { events, fanOut }: Pick<Config, 'events' | 'fanOut'>,
  { repositories, workSignal }: Pick<Core, 'repositories' | 'workSignal'>,
  workerId: string,
  logger: Logger,
): BackgroundWorker[] {
  if (events.retentionMs === null) return [];
  const mover = new EventMover(
    {
      ...repositories,
      onError: (err) => {
        logWorkerTrouble(logger, { err });
      },
    },
    {
      ...{ workerId, workSignal, retentionMs: events.retentionMs },
      ...{ leaseMs: fanOut.leaseMs, pollMs: fanOut.pollMs },
    },
  );
  return [mover];
}
