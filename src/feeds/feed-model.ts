import type { RedisPart } from '../connections/redis-parts.ts';
import type { IndexDefinition, RetiredIndex } from '../storage/indexes/index-definition.ts';
import type { Database } from '../storage/database/mongo.ts';
import type { FeedStore } from './feed-store.ts';

/** A way to store feeds: a folder in `models/`, and its line in the registry. */
export interface FeedModel {
  /** As `FEED_MODEL` gives it. */
  readonly name: string;
  /** Of its own collections. */
  readonly indexes: readonly IndexDefinition[];
  /** Which a release before made and nothing needs any more. */
  readonly retiredIndexes?: readonly RetiredIndex[];
  /** @throws when a part that it needs is missing */
  open(parts: FeedModelParts): FeedStore;
}

export interface FeedModelParts {
  readonly db: Database['db'];
  /** What belongs together may lie on different shards. Default: no. */
  readonly isSharded?: boolean;
  /** The choice of a feed model that holds now; see `feed-epochs.ts`. Default: the first. */
  readonly feedEpoch?: number;
  /** Newest entries to hold per feed, where a model has a cap of its own. */
  readonly cap: number;
  /** Empty where there is no Redis. */
  readonly redis: readonly Pick<RedisPart, 'commands' | 'prefix' | 'isSharded'>[];
}
