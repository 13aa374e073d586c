import type { ReaderProfile } from '../../domain/viewer.ts';
import { clock } from '../../lib/clock.ts';
import { bucketOf } from '../../lib/bucket-of.ts';
import type { Stamps } from '../../storage/readers/reader-stamps.ts';

/** Longest time for which a profile is kept: until then a change may go unnoticed whose process died before it renewed the stamp. */
const LONGEST_MS = 60_000;

interface Kept {
  readonly profile: ReaderProfile;
  readonly stamp: number | undefined;
  readonly changes: number;
  /** By `clock.time()`. */
  readonly until: number;
}

/**
 * The profile of a reader who watches, kept from one event to the next. It holds while the reader's stamp is the one that
 * was read before it, nothing in the reader's log says that they changed something, and no mute has ended. The pulled
 * follows in it may be outdated.
 */
export class KeptProfile {
  readonly #bucket: string;
  #kept: Kept | null = null;

  constructor(userId: string) {
    this.#bucket = bucketOf(userId);
  }

  /**
   * @param stamps from a read that began after the event arrived.
   * @param changes how often the log has told so far that something may have changed for the reader.
   */
  find(stamps: Stamps, changes: number): ReaderProfile | null {
    const kept = this.#kept;
    const isCurrent =
      kept !== null &&
      kept.stamp === stamps[this.#bucket] &&
      kept.changes === changes &&
      clock.time() < kept.until;
    return isCurrent ? kept.profile : null;
  }

  /** Keeps a profile whose read began after that of the stamps. @param changes as of before the read. */
  keep(profile: ReaderProfile, stamps: Stamps, changes: number): void {
    // What becomes of snoozes goes by the time of the profile, and old hides are brought over without renewing a stamp.
    if (profile.hasSnoozes || profile.hasHiddenItems) this.#kept = null;
    else {
      const ends = profile.mutes.list.map(({ until }) => until?.getTime() ?? Infinity);
      const until = Math.min(clock.time() + LONGEST_MS, ...ends);
      this.#kept = { profile, stamp: stamps[this.#bucket], changes, until };
    }
  }
}
