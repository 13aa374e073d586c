import type { Collections } from './mongo.ts';
import { ofInstallation } from '../documents/declaration.ts';

declare module '../repositories.ts' {
  interface Repositories {
    readonly processes: ReturnType<typeof processesRepository>;
  }
}

export const PROCESSES = ofInstallation('processes', 'a running process');

/** Interval of a process's heartbeat, in milliseconds. */
export const SEEN_EVERY_MS = 15_000;
/** After this time without a heartbeat a process counts as gone, in milliseconds. */
const GONE_AFTER_MS = 6 * SEEN_EVERY_MS;

export interface RunningProcess {
  /** Unique per run of a process. */
  readonly id: string;
  readonly schema: number;
  readonly isWorker: boolean;
  readonly hasTenants: boolean;
}

/** Processes of the installation: a few documents, always read in full. Unique key: `_id`. */
export function processesRepository({ processes }: Collections) {
  const running = (now: Date) => ({ seenAt: { $gt: new Date(now.getTime() - GONE_AFTER_MS) } });

  return {
    async seen({ id, schema, isWorker, hasTenants }: RunningProcess, now: Date): Promise<void> {
      const set = { schema, isWorker, seenAt: now, ...(hasTenants ? { tenants: true as const } : {}) };
      await processes.updateOne({ _id: id }, { $set: set }, { upsert: true });
    },

    async gone(id: string): Promise<void> {
      await processes.deleteOne({ _id: id });
    },

    /** Deletes processes that ended without deregistering. */
    async purge(now: Date): Promise<void> {
      await processes.deleteMany({ seenAt: { $lte: new Date(now.getTime() - GONE_AFTER_MS) } });
    },

    async countWorkers(now: Date): Promise<number> {
      return processes.countDocuments({ ...running(now), isWorker: true });
    },

    async count(now: Date): Promise<number> {
      return processes.countDocuments(running(now));
    },

    /** Whether a running process uses the other kind of ids: with tenants if this one has none, or the reverse. */
    async isOtherTenancy(hasTenants: boolean, now: Date): Promise<boolean> {
      const others = { ...running(now), tenants: { $exists: !hasTenants } };
      return (await processes.countDocuments(others, { limit: 1 })) > 0;
    },

    /** Number of running processes that know only older schema versions than this one. */
    async countOlder(schema: number, now: Date): Promise<number> {
      return processes.countDocuments({ ...running(now), schema: { $lt: schema } });
    },
  };
}
