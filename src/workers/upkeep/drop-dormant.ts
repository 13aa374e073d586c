import type { UserId } from '../../domain/action.ts';
import type { FeedStore } from '../../feeds/feed-store.ts';
import type { LiveLog } from '../../realtime/live-log.ts';
import type { Repositories } from '../../storage/repositories.ts';

export interface DropDormantDependencies extends Pick<Repositories, 'feeds'> {
  readonly feedStore: FeedStore;
  readonly liveLog: Pick<LiveLog, 'watched'>;
  /** How long somebody has not read whose feed is dropped; null: none is. */
  readonly dropAfterMs: number | null;
  /** The same for who never has, since something first came to them; null: theirs stay. */
  readonly neverReadAfterMs: number | null;
}

/** Few enough that they are gone long before the lease ends. */
const BATCH = 20;
/** How long a process that dies keeps the feeds of a batch from being rebuilt. */
const LEASE_MS = 30_000;

/**
 * Throws the stored feeds away of readers who have not read for long. They are marked first: from then on nothing of
 * what is stored is trusted, and who comes back reads from the actions until the feed has been rebuilt, which waits for the
 * end of this. Who watches reads. @returns how many
 */
export async function dropDormant(
  { feeds, feedStore, liveLog, dropAfterMs, neverReadAfterMs }: DropDormantDependencies,
  now: Date,
  isToStop: () => boolean,
): Promise<number> {
  const before = (ms: number | null): Date | null => (ms === null ? null : new Date(now.getTime() - ms));
  const since = { read: before(dropAfterMs), neverRead: before(neverReadAfterMs) };
  let dropped = 0;
  let after: UserId | null = null;
  while (!isToStop()) {
    const found: UserId[] = await feeds.unread(since, after, BATCH);
    if (found.length === 0) break;
    after = found.at(-1) ?? null;
    const watched = new Set(await liveLog.watched(found));
    const unwatched = found.filter((userId) => !watched.has(userId));
    const until = new Date(now.getTime() + LEASE_MS);
    const begun = await feeds.beginDrop(unwatched, since, { now, until });
    for (const userId of begun) await feedStore.drop(userId);
    await feeds.finishDrop(begun, until);
    dropped += begun.length;
  }
  return dropped;
}
