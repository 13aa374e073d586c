import type { UserId } from '../../domain/action.ts';
import type { Context } from '../../feeds/context.ts';
import { clock } from '../../lib/clock.ts';

export interface DormantAfter {
  /** Readers who have not read for this long are dormant. */
  readonly dormantAfterMs: number;
  /** Readers who never read are dormant this long after their first delivery; `null` or absent: never. */
  readonly neverReadAfterMs?: number | null;
}

/** How long "no dormant readers" is cached. Until it is refreshed, some may get needless deliveries. */
const LOOK_EVERY_MS = 10_000;

/** Dormant readers need no delivery; watching counts as reading. Without dormant readers: one query per ten seconds. */
export function dormancy(
  { feeds, liveLog, onLiveLogError }: Context,
  { dormantAfterMs, neverReadAfterMs = null }: DormantAfter,
): (userIds: readonly UserId[]) => Promise<ReadonlySet<UserId>> {
  let lookAgainAt = 0;
  const nobody: ReadonlySet<UserId> = new Set();

  async function watching(userIds: readonly UserId[]): Promise<ReadonlySet<UserId>> {
    try {
      return new Set(await liveLog.watched(userIds));
    } catch (error) {
      // They will resync later, and their next query reads from the source.
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
