import type { UserId } from '../../domain/action.ts';
import type { FeedDependencies } from '../../feeds/feed-dependencies.ts';
import type { AnnounceDependencies } from '../../realtime/announce.ts';
import type { LiveLog } from '../../realtime/live-log.ts';
import type { Repositories } from '../../storage/repositories.ts';
import type { LaneGate } from './lane-gate.ts';

/** Who watches, and who of them an action is addressed to. */
export interface WatchingAudienceDependencies
  extends AnnounceDependencies, Pick<Repositories, 'follows' | 'members'> {
  readonly liveLog: AnnounceDependencies['liveLog'] & Pick<LiveLog, 'allWatched'>;
}

/** What a pass takes. */
export interface DeliverDependencies
  extends FeedDependencies, Pick<Repositories, 'eventOutbox' | 'pulledRefs' | 'readerChoices'> {
  readonly liveLog: WatchingAudienceDependencies['liveLog'];
  /** Those of the readers to whom nothing need be delivered; see `skip-dormant.ts`. */
  readonly skipDormant: (userIds: readonly UserId[]) => Promise<ReadonlySet<UserId>>;
  /** Newest entries that are kept per feed. */
  readonly cap: number;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly chunkSize: number;
  readonly leaseMs: number;
  /** Decides whose chunk is next. */
  readonly gate: Pick<LaneGate, 'run'>;
}
