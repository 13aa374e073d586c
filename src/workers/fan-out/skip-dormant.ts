import type { UserId } from '../../domain/action.ts';
import type { LiveLog } from '../../realtime/live-log.ts';
import { clock } from '../../lib/clock.ts';
import type { Repositories } from '../../storage/repositories.ts';

export interface DormancyDependencies extends Pick<Repositories, 'feeds'> {
  readonly liveLog: Pick<LiveLog, 'watched'>;
  readonly onLiveLogError: (error: unknown) => void;
  /** Readers who have not read for this long are dormant. */
  readonly dormantAfterMs: number;
  /** So are readers who have never read, so long after something first came to them; null, absent: they are not. */
  readonly neverReadAfterMs?: number | null;
}

/** For how long it is taken for granted that there are no dormant readers. Until then some are delivered to in vain. */
const LOOK_EVERY_MS = 10_000;

/** Readers who have not read for long need no delivery. Who watches reads. No dormant readers: a query in ten seconds. */
export function dormancy({
  feeds,
  liveLog,
  onLiveLogError,
  dormantAfterMs,
  neverReadAfterMs = null,
}: DormancyDependencies): (userIds: readonly UserId[]) => Promise<ReadonlySet<UserId>> {
  let lookAgainAt = 0;
  const nobody: ReadonlySet<UserId> = new Set();

  async function watching(userIds: readonly UserId[]): Promise<ReadonlySet<UserId>> {
    try {
      return new Set(await liveLog.watched(userIds));
    } catch (error) {
      // Then they resync later, and what they query next is made from the source.
      onLiveLogError(error);
      return nobody;
    }
  }

  return async (userIds) => {
    const now = clock.time();
    if (neverReadAfterMs !== null) await feeds.noteAwaited(userIds, new Date(now));
    const since = {
      read: new Date(now - dormantAfterMs),
      neverRead: neverReadAfterMs === null ? null : new Date(now - neverReadAfterMs),
    };
    if (performance.now() < lookAgainAt) return nobody;
    if (!(await feeds.hasDormant(since))) {
      lookAgainAt = performance.now() + Math.min(LOOK_EVERY_MS, dormantAfterMs);
      return nobody;
    }
    const watched = await watching(userIds);
    const unwatched = userIds.filter((userId) => !watched.has(userId));
    return new Set(await feeds.skipDormant(unwatched, since));
  };
}
