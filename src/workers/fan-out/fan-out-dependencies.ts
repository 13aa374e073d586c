import type { UserId } from '../../domain/action.ts';
import type { InteractionGroup } from '../../domain/relevancy.ts';
import type { FeedDependencies } from '../../feeds/feed-dependencies.ts';
import type { AnnounceDependencies } from '../../realtime/announce.ts';
import type { LiveLog } from '../../realtime/live-log.ts';
import type { Claim } from '../../storage/fan-out/fan-out-claim.ts';
import type { Repositories } from '../../storage/repositories.ts';
import type { LaneGate } from './lane-gate.ts';

/** Presence, and which watchers an action is addressed to. */
export interface WatchingAudienceDependencies
  extends AnnounceDependencies, Pick<Repositories, 'follows' | 'members'> {
  readonly liveLog: AnnounceDependencies['liveLog'] & Pick<LiveLog, 'allWatched'>;
}

/** A claim with all that lifts its action. */
export interface LiftedClaim {
  readonly claim: Claim;
  readonly interactions: readonly InteractionGroup[];
}

/** Dependencies of a pass. */
export interface DeliverDependencies
  extends FeedDependencies, Pick<Repositories, 'eventOutbox' | 'pulledRefs' | 'readerChoices'> {
  readonly liveLog: WatchingAudienceDependencies['liveLog'];
  /** The readers who can be skipped; see `skip-dormant.ts`. */
  readonly skipDormant: (userIds: readonly UserId[]) => Promise<ReadonlySet<UserId>>;
  /** Number of newest entries kept per feed. */
  readonly cap: number;
  /** Returns a number from 0 to 1. */
  readonly random: () => number;
  readonly chunkSize: number;
  readonly leaseMs: number;
  /** Decides which chunk runs next. */
  readonly gate: Pick<LaneGate, 'run'>;
}
