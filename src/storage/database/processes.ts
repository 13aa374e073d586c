import type { Collections } from './mongo.ts';

/** A process says this often that it runs, in milliseconds. */
export const SEEN_EVERY_MS = 15_000;
/** A process that has said nothing for so long does not run any more, in milliseconds. */
const GONE_AFTER_MS = 6 * SEEN_EVERY_MS;

export interface RunningProcess {
  /** Names this run of the process alone. */
  readonly id: string;
  readonly schema: number;
  readonly isWorker: boolean;
  readonly hasTenants: boolean;
}

/** The processes of the installation. A few documents, read whole. Unique key: `_id`. */
export function processesRepository({ processes }: Pick<Collections, 'processes'>) {
  const running = (now: Date) => ({ seenAt: { $gt: new Date(now.getTime() - GONE_AFTER_MS) } });

  return {
    /** It runs now. */
    async seen({ id, schema, isWorker, hasTenants }: RunningProcess, now: Date): Promise<void> {
      const set = { schema, isWorker, seenAt: now, ...(hasTenants ? { tenants: true as const } : {}) };
      await processes.updateOne({ _id: id }, { $set: set }, { upsert: true });
    },

    async gone(id: string): Promise<void> {
      await processes.deleteOne({ _id: id });
    },

    /** Forgets those that ended without saying so. */
    async purge(now: Date): Promise<void> {
      await processes.deleteMany({ seenAt: { $lte: new Date(now.getTime() - GONE_AFTER_MS) } });
    },

    /** How many of them work in the background. */
    async countWorkers(now: Date): Promise<number> {
      return processes.countDocuments({ ...running(now), isWorker: true });
    },

    async count(now: Date): Promise<number> {
      return processes.countDocuments(running(now));
    },

    /** Whether one runs that stores ids the other way: with tenants where this one has none, or without. */
    async isOtherTenancy(hasTenants: boolean, now: Date): Promise<boolean> {
      const others = { ...running(now), tenants: { $exists: !hasTenants } };
      return (await processes.countDocuments(others, { limit: 1 })) > 0;
    },

    /** How many know only older schema versions than this one. */
    async countOlder(schema: number, now: Date): Promise<number> {
      return processes.countDocuments({ ...running(now), schema: { $lt: schema } });
    },
  };
}

export type ProcessesRepository = ReturnType<typeof processesRepository>;
