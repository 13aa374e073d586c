import type { Core } from '../../core/core.ts';
import { LANES, type Lane } from '../../domain/lane.ts';
import { areBeside } from '../../domain/stored-id.ts';
import type { Identity } from '../../domain/viewer.ts';
import { sessionBatches } from '../../feed/session/session-batches.ts';
import { clock } from '../../lib/clock.ts';
import { once } from '../../lib/once.ts';
import { requireRole } from '../../core/validate.ts';

export interface LaneDepth {
  readonly lane: Lane;
  readonly pending: number;
  /** Age of the oldest pending entry; 0 when none is pending. */
  readonly oldestSeconds: number;
}

/** Work in progress. Each figure is read on demand, once. */
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
  { cap, feedRebuilds, feedStore, liveLog, processes, renames, workFigures }: Core,
  identity: Identity,
): WorkOverview {
  requireRole(identity, 'admin');
  const { userId } = identity;
  return {
    lanes: once(async () => {
      const figures = await workFigures.lanes(userId);
      const now = clock.time();
      return [...LANES].map((lane) => {
        const { pending = 0, dueSince = null } = figures.get(lane) ?? {};
        const oldestSeconds = dueSince === null ? 0 : Math.max(0, now - dueSince.getTime()) / 1_000;
        return { lane, pending, oldestSeconds };
      });
    }),
    workers: once(() => processes.countWorkers(clock.now())),
    watchers: once(async () => {
      // The same reader may occur in several parts.
      const readers = new Set<string>();
      for await (const some of liveLog.allWatched())
        for (const reader of some) if (areBeside(reader, userId)) readers.add(reader);
      return readers.size;
    }),
    rebuildsDue: once(() => feedRebuilds.countDue(userId)),
    renamesDue: once(() => renames.countDue(userId)),
    failedFanOuts: once(() => workFigures.failedFanOuts(userId)),
    ...{ feedModel: feedStore.model, feedCap: cap },
  };
}

/** The same overview for all of a request. @throws FanfareError FORBIDDEN */
export const workOf = sessionBatches<'work', WorkOverview>(
  (core, { identity }, keys) => {
    const work = readWork(core, identity);
    return Promise.resolve(keys.map(() => work));
  },
  (key) => key,
);
