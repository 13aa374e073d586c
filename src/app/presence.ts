import { randomUUID } from 'node:crypto';
import { clock } from '../lib/clock.ts';
import { SEEN_EVERY_MS } from '../storage/database/processes.ts';
import type { Repositories } from '../storage/repositories.ts';
import { TenancyDiffers } from '../storage/database/schema-version.ts';

const OTHERS_RUN =
  'Another process runs on the database with TENANT_CLAIM set where it is not here, or the other way round: ' +
  'end it first; one that died is taken for gone after 90 seconds';

export interface PresenceOptions {
  /** The newest schema version that this process knows. */
  readonly schema: number;
  readonly isWorker: boolean;
  /** It stores ids behind their tenant. */
  readonly hasTenants: boolean;
  /** It could not be said that this process still runs; it is tried again. */
  readonly onError: (error: unknown) => void;
}

/**
 * Says in the database that this process runs, until it is disposed, and looks whether its release may work there at all.
 * In this order: a migration that is about to begin sees either this process or its own mark that keeps it out.
 * What stores ids with their tenant, and what stores them without, never run at the same time, for the same reason.
 * @throws SchemaTooNew, TenancyDiffers
 */
export async function enterInstallation(
  { processes, schemaVersion }: Pick<Repositories, 'processes' | 'schemaVersion'>,
  { schema, isWorker, hasTenants, onError }: PresenceOptions,
): Promise<AsyncDisposable> {
  const self = { id: randomUUID(), schema, isWorker, hasTenants };
  await processes.purge(clock.now());
  await processes.seen(self, clock.now());
  try {
    if (await processes.isOtherTenancy(hasTenants, clock.now())) throw new TenancyDiffers(OTHERS_RUN);
    await schemaVersion.open(schema, { hasTenants });
  } catch (error) {
    await processes.gone(self.id);
    throw error;
  }
  const timer = setInterval(() => {
    processes.seen(self, clock.now()).catch(onError);
  }, SEEN_EVERY_MS).unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      // With the database away it is taken for gone after a while.
      await processes.gone(self.id).catch(onError);
    },
  };
}
