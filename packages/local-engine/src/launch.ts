import { join } from 'node:path';
import type { OnEmbeddedEvent } from './events.ts';
import type { Exit } from './keeper-messages.ts';
import type { Keeper, KeptService } from './keeper-client.ts';
import type { Durability } from './mongo/postgres-settings.ts';
import { boundLog } from './process/bounded-log.ts';

/** What it takes to start a service. */
export interface Launch {
  readonly keeper: Keeper;
  /** Each service has a folder of its own name in it; logs and the list of processes are there too. */
  readonly dataDir: string;
  /** The same folder by a path that is short enough to name the sockets in it. */
  readonly shortDataDir: string;
  readonly durability: Durability;
  /** PATH to search for programs. */
  readonly path: string;
  readonly onEvent: OnEmbeddedEvent;
}

/** The file for a service's output. The keeper bounds it while the service runs. */
export function logFile(launch: Pick<Launch, 'dataDir'>, name: string): string {
  const file = join(launch.dataDir, `${name}.log`);
  boundLog(file);
  return file;
}

/**
 * From now on the service, which is up, is started again when it dies. Its deaths and restarts are reported, and at last
 * that it stays away.
 */
export function keepRunning(service: KeptService, log: string, onEvent: OnEmbeddedEvent): void {
  const { name } = service;
  service.keepRunning((change) => {
    if (service.isStopping) return;
    if (change.type === 'down') {
      const seconds = String(change.pauseMs / 1_000);
      const message = `The local ${name} has ended unexpectedly (${describeExit(change.exit)}) and is started again in ${seconds} s. Its log: ${log}`;
      onEvent({ step: 'exit', message });
    } else {
      onEvent({ step: 'recover', message: `The local ${name} has been started again` });
    }
  });
  void service.exited.then((exit) => {
    if (service.isStopping) return;
    const message = `The local ${name} has ended unexpectedly (${describeExit(exit)}) and is not started again. Its log: ${log}`;
    onEvent({ step: 'lost', message });
  });
}

function describeExit({ code, signal }: Exit): string {
  return signal ?? (code === null ? 'its keeper is gone, or it cannot be run' : `exit ${code}`);
}
