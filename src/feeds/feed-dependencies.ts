import type { UserId } from '../domain/action.ts';
import type { RelevancyWeights } from '../domain/relevancy.ts';
import type { AnnounceDependencies } from '../realtime/announce.ts';
import type { StoreUnavailable } from '../storage/database/errors.ts';
import type { Repositories } from '../storage/repositories.ts';
import type { FeedStore } from './feed-store.ts';

/** What feeds are kept by: where they are stored, what decides about them, and who is notified. */
export interface FeedDependencies
  extends
    AnnounceDependencies,
    Pick<
      Repositories,
      'actions' | 'fanOuts' | 'feeds' | 'follows' | 'interactions' | 'members' | 'sourceActions'
    > {
  readonly feedStore: FeedStore;
  readonly weights: RelevancyWeights;
}

/** Does a chunk of work when it is its turn. */
export type InTurn = <T>(chunk: () => Promise<T>) => Promise<T>;

export interface RebuildDependencies extends FeedDependencies {
  /** Most entries that a rebuild stores. */
  readonly cap: number;
  readonly inTurn: InTurn;
}

export interface FeedReaderDependencies
  extends FeedDependencies, Pick<Repositories, 'actionCache' | 'pulledRefs'> {
  /** The store has lost the reader's feed, and no rebuild is due yet. */
  readonly onLost: (userId: UserId) => Promise<void>;
  /** The store could not be reached, and a read was served from the actions instead. */
  readonly onStoreUnavailable: (error: StoreUnavailable) => void;
}
