import { randomUUID } from 'node:crypto';
import { clock } from '../lib/clock.ts';
import { SEEN_EVERY_MS } from '../storage/database/processes.ts';
import type { Repositories } from '../storage/repositories.ts';
import { TenancyDiffers } from '../storage/database/schema-version.ts';

const OTHERS_RUN =
  'Another process runs on the database, and only one of the two has TENANT_CLAIM set: ' +
  'stop it first; a process that died stops counting after 90 seconds';

export interface PresenceOptions {
  /** Newest schema version this process knows. */
  readonly schema: number;
  readonly isWorker: boolean;
  /** This process stores ids with their tenant. */
  readonly hasTenants: boolean;
  /** The heartbeat failed; it will be retried. */
  readonly onError: (error: unknown) => void;
}

/**
 * Registers this process in the database until disposed, then checks whether its release may work there. The order matters:
 * a migration about to start sees this registration, or this process sees the mark of the migration and stays out. For the
 * same reason, processes with and without tenants never run at the same time.
 * @throws SchemaTooNew, TenancyDiffers
 */
export async function enterInstallation(
  { processes, schemaVersion }: Repositories,
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
      // While the database is away this fails; the registration then expires.
      await processes.gone(self.id).catch(onError);
    },
  };
}
