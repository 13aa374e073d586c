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
/** How long one that announces a gap of another has for it, in milliseconds. */
const ANNOUNCES_WITHIN_MS = 30_000;

export interface RunningProcess {
  /** Unique per run of a process. */
  readonly id: string;
  readonly schema: number;
  readonly isWorker: boolean;
  readonly hasTenants: boolean;
  /** It knows of live events that may be missing, which nobody else does. Default: false. */
  readonly hasGap?: boolean;
}

/** Processes of the installation: a few documents, always read in full. Unique key: `_id`. */
export function processesRepository({ processes }: Collections) {
  const running = (now: Date) => ({ seenAt: { $gt: new Date(now.getTime() - GONE_AFTER_MS) } });
  const ended = (now: Date) => ({ seenAt: { $lte: new Date(now.getTime() - GONE_AFTER_MS) } });

  return {
    async seen(
      { id, schema, isWorker, hasTenants, hasGap = false }: RunningProcess,
      now: Date,
    ): Promise<void> {
      const set = { schema, isWorker, seenAt: now, ...(hasTenants ? { tenants: true as const } : {}) };
      const change = hasGap
        ? { $set: { ...set, gapAt: now } }
        : { $set: set, $unset: { gapAt: true as const } };
      await processes.updateOne({ _id: id }, change, { upsert: true });
    },

    async gone(id: string): Promise<void> {
      await processes.deleteOne({ _id: id });
    },

    /** Deletes processes that ended without deregistering, and left no gap to be announced. */
    async purge(now: Date): Promise<void> {
      await processes.deleteMany({ ...ended(now), gapAt: { $exists: false } });
    },

    /** Takes one that ended and left a gap, so that no other process announces it; `null`: there is none. `gone` is next. */
    async takeGap(now: Date): Promise<string | null> {
      const untaken = { gapAt: { $lte: new Date(now.getTime() - ANNOUNCES_WITHIN_MS) } };
      const found = await processes.findOneAndUpdate({ ...ended(now), ...untaken }, { $set: { gapAt: now } });
      return found?._id ?? null;
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
