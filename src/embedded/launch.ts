import { renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { OnEmbeddedEvent } from './events.ts';
import type { Keeper, KeptService } from './keeper-client.ts';
import type { Durability } from './mongo/postgres-settings.ts';

/** What it takes to start a service. */
export interface Launch {
  readonly keeper: Keeper;
  /** Each service has a folder of its own name in it; logs and the list of processes are there too. */
  readonly dataDir: string;
  readonly durability: Durability;
  /** PATH to search for programs. */
  readonly path: string;
  readonly onEvent: OnEmbeddedEvent;
}

const LOG_LIMIT_BYTES = 10_000_000;

/** The file for a service's output. What a former run wrote is kept until it is long, and then once more. */
export function logFile(launch: Pick<Launch, 'dataDir'>, name: string): string {
  const file = join(launch.dataDir, `${name}.log`);
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LOG_LIMIT_BYTES) renameSync(file, `${file}.1`);
  return file;
}

/** Reports it, once the service is up, if it ends though nobody asked it to. */
export function reportExit(service: KeptService, log: string, onEvent: OnEmbeddedEvent): void {
  void service.exited.then(({ code, signal }) => {
    if (service.isStopping) return;
    const how = signal ?? (code === null ? 'its keeper is gone' : `exit ${code}`);
    onEvent({
      step: 'exit',
      message: `The local ${service.name} has ended unexpectedly (${how}). Its log: ${log}`,
    });
  });
}
