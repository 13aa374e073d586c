import type { RedisPart } from '../connections/redis-parts.ts';
import type { Declaration } from '../storage/documents/declaration.ts';
import type { Database } from '../storage/database/mongo.ts';
import type { FeedStore } from './feed-store.ts';

/** A way to store feeds. The core has `items` and `pull`; packages bring others. */
export interface FeedModel {
  /** The value of `FEED_MODEL`. */
  readonly name: string;
  /** The model's own collections. */
  readonly collections: readonly Declaration[];
  /** @throws when a required part is missing */
  open(parts: FeedModelParts): FeedStore;
}

export interface FeedModelParts {
  readonly db: Database['db'];
  /** Related documents may be on different shards. Default: false. */
  readonly isSharded?: boolean;
  /** Epoch of the current choice of model; see `feed-epochs.ts`. Default: the first. */
  readonly feedEpoch?: number;
  /** Newest entries to keep per feed, for models with a cap of their own. */
  readonly cap: number;
  /** Empty without Redis. */
  readonly redis: readonly Pick<RedisPart, 'commands' | 'prefix' | 'isSharded'>[];
}
