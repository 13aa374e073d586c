import type { Core } from '../core.ts';
import { LANES, type Lane } from '../../domain/lane.ts';
import { areBeside } from '../../domain/stored-id.ts';
import type { Identity } from '../../domain/viewer.ts';
import { clock } from '../../lib/clock.ts';
import { requireRole } from '../validate.ts';

export interface LaneDepth {
  readonly lane: Lane;
  readonly pending: number;
  /** Age of the oldest pending entry; 0 when none is pending. */
  readonly oldestSeconds: number;
}

/** Work in progress. Each figure is read on demand. */
export interface WorkOverview {
  lanes(): Promise<LaneDepth[]>;
  workers(): Promise<number>;
  watchers(): Promise<number>;
  rebuildsDue(): Promise<number>;
  renamesDue(): Promise<number>;
  failedFanOuts(): Promise<number>;
  readonly feedModel: string;
  /** Most entries of a stored feed. */
  readonly feedCap: number;
}

/** @throws FanfareError FORBIDDEN */
export function readWork(
  { cap, feeds, feedStore, liveLog, processes, renames, workFigures }: Core,
  identity: Identity,
): WorkOverview {
  requireRole(identity, 'admin');
  const { userId } = identity;
  return {
    async lanes() {
      const figures = await workFigures.lanes(userId);
      const now = clock.time();
      return [...LANES].map((lane) => {
        const { pending = 0, dueSince = null } = figures.get(lane) ?? {};
        const oldestSeconds = dueSince === null ? 0 : Math.max(0, now - dueSince.getTime()) / 1_000;
        return { lane, pending, oldestSeconds };
      });
    },
    workers: () => processes.countWorkers(clock.now()),
    async watchers() {
      // The same reader may occur in several parts.
      const readers = new Set<string>();
      for await (const some of liveLog.allWatched())
        for (const reader of some) if (areBeside(reader, userId)) readers.add(reader);
      return readers.size;
    },
    rebuildsDue: () => feeds.countDue(userId),
    renamesDue: () => renames.countDue(userId),
    failedFanOuts: () => workFigures.failedFanOuts(userId),
    ...{ feedModel: feedStore.model, feedCap: cap },
  };
}
