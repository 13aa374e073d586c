import type { StretchGuess } from './stretch-guess.ts';
import type { UserId } from '../domain/action.ts';
import type { RelevancyWeights } from '../domain/relevancy.ts';
import type { AnnounceDependencies } from '../realtime/announce.ts';
import type { StoreUnavailable } from '../storage/database/errors.ts';
import type { Repositories } from '../storage/repositories.ts';
import type { FeedStore } from './feed-store.ts';

/** Dependencies for maintaining feeds: stores, rules and notifications. */
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

/** Runs a chunk of work when its lane allows. */
export type InTurn = <T>(chunk: () => Promise<T>) => Promise<T>;

export interface RebuildDependencies extends FeedDependencies {
  /** Upper bound on the entries a rebuild stores. */
  readonly cap: number;
  readonly inTurn: InTurn;
  /** Shared by the rebuilds of a process. */
  readonly stretch: StretchGuess;
}

export interface FeedReaderDependencies
  extends FeedDependencies, Pick<Repositories, 'actionCache' | 'pulledRefs'> {
  /** The store has lost the reader's feed, and no rebuild is pending. */
  readonly onLost: (userId: UserId) => Promise<void>;
  /** The store could not be reached; the read was served from the actions. */
  readonly onStoreUnavailable: (error: StoreUnavailable) => void;
}
