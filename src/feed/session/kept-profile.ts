import type { ReaderProfile } from '../../domain/viewer.ts';
import { clock } from '../../lib/clock.ts';
import { bucketOf } from '../../lib/bucket-of.ts';
import type { Stamps } from '../../storage/stamps/reader-stamps.ts';

/** Maximum age of a cached profile: bounds how long a change is missed if its process died before renewing the stamp. */
const LONGEST_MS = 60_000;

interface Kept {
  readonly profile: ReaderProfile;
  readonly stamp: number | undefined;
  readonly changes: number;
  /** On the shared clock, `clock.time()`. */
  readonly until: number;
}

/**
 * A watching reader's profile, cached between events. Valid while the reader's stamp is the one read before the profile, the
 * reader's log reports no change, and no mute has ended. Its pulled follows may be outdated.
 */
export class KeptProfile {
  readonly #bucket: string;
  #kept: Kept | null = null;

  constructor(userId: string) {
    this.#bucket = bucketOf(userId);
  }

  /**
   * @param stamps from a read that began after the event arrived.
   * @param changes number of messages so far that may mean a change for the reader.
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

  /** Caches a profile whose read began after that of the stamps. @param changes as of before the read. */
  keep(profile: ReaderProfile, stamps: Stamps, changes: number): void {
    // The profile's time decides which items have returned.
    if (profile.hasEnds) this.#kept = null;
    else {
      const ends = profile.mutes.list.map(({ until }) => until?.getTime() ?? Infinity);
      const until = Math.min(clock.time() + LONGEST_MS, ...ends);
      this.#kept = { profile, stamp: stamps[this.#bucket], changes, until };
    }
  }
}
