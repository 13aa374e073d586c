import type { UserId } from '../../domain/action.ts';
import type { Context } from '../../feeds/context.ts';

export interface DropAfter {
  /** Inactivity after which a stored feed is dropped; `null`: never. */
  readonly dropAfterMs: number | null;
  /** The same for readers who never read, counted from their first delivery; `null`: never. */
  readonly neverReadAfterMs: number | null;
}

/** Small enough to be finished long before the lease, which begins with the batch, expires. */
const BATCH = 20;
/** How long a process that dies blocks rebuilds of a batch's feeds. */
const LEASE_MS = 30_000;

/**
 * Drops the stored feeds of readers who have not read for long. Marks them first: from then on stored entries are not
 * trusted, and a returning reader is served from the actions until a rebuild, which waits for this to end. Watching counts
 * as reading.
 * @param now read again for every batch: there may be so many that they take longer than a lease
 * @returns the number of dropped feeds
 * @throws the first error of a drop. The others are dropped nevertheless, unless all of a batch fail
 */
export async function dropDormant(
  { feeds, feedStore, liveLog }: Context,
  { dropAfterMs, neverReadAfterMs }: DropAfter,
  now: () => Date,
  isToStop: () => boolean,
): Promise<number> {
  const startedAt = now().getTime();
  const before = (ms: number | null): Date | null => (ms === null ? null : new Date(startedAt - ms));
  const since = { read: before(dropAfterMs), neverRead: before(neverReadAfterMs) };
  let dropped = 0;
  let after: UserId | null = null;
  const failures: unknown[] = [];
  while (!isToStop()) {
    const found: UserId[] = await feeds.unread(since, after, BATCH);
    if (found.length === 0) break;
    after = found.at(-1) ?? null;
    const watched = new Set(await liveLog.watched(found));
    const unwatched = found.filter((userId) => !watched.has(userId));
    const begunAt = now();
    const until = new Date(begunAt.getTime() + LEASE_MS);
    const begun = await feeds.beginDrop(unwatched, since, { now: begunAt, until });
    const done: UserId[] = [];
    for (const userId of begun) {
      // From then on a rebuild may fill the feed again. The next round drops it, if it is still unread.
      if (now() >= until) break;
      try {
        await feedStore.drop(userId);
        done.push(userId);
      } catch (error) {
        failures.push(error);
      }
    }
    await feeds.finishDrop(done, until);
    dropped += done.length;
    if (failures.length > 0 && done.length === 0) break;
  }
  if (failures.length > 0) throw failures[0];
  return dropped;
}
