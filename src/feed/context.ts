import type { ErasureTiming } from '../domain/erasure.ts';
import type { Offers } from '../domain/offer.ts';
import type { RankingWeights } from '../domain/ranking.ts';
import type { RelevancyWeights } from '../domain/relevancy.ts';
import type { Realtime } from '../live/create-realtime.ts';
import type { Repositories } from '../storage/repositories.ts';
import type { FeedStore } from './feed-store.ts';

/**
 * What feeds, workers and use cases of one process share: storage, notifications, settings and observers. Made once, by
 * `createCore`.
 */
export interface Context extends Repositories, Realtime {
  readonly feedStore: FeedStore;
  /** Stores of every feed model that may still contain feeds, in use or not. */
  readonly feedStores: readonly FeedStore[];
  /** Number of newest entries kept per feed. */
  readonly cap: number;
  readonly weights: RelevancyWeights;
  readonly ranking: RankingWeights;
  /** What hosts offer readers in views with a source. */
  readonly offers: Offers;
  /** Whether it is kept what readers were shown. */
  readonly keepsImpressions: boolean;
  /** Reactions that members can give. */
  readonly reactions: readonly string[];
  /** The time of a reader's last read is recorded several times in this period. */
  readonly dormantAfterMs: number;
  readonly erasureTiming: ErasureTiming;
  /** The live log could not be reached; watchers will be asked to resync. */
  readonly onLiveLogError: (error: unknown) => void;
  /** The store could not be reached; the read was served from the actions. */
  readonly onStoreUnavailable: (error: unknown) => void;
  /** Called with the number of newly recorded actions. */
  readonly onPublished: (count: number) => void;
  /** Called for each page of a feed, with what metrics call its view. */
  readonly onFeedRead: (view: string) => void;
  /** Called with the number of impressions that were recorded of a view. */
  readonly onShown: (view: string, count: number) => void;
  /** Removes what was deleted from the files of local databases, too. */
  readonly forgetDeleted: () => Promise<void>;
}
