import { inject } from 'vitest';
import { createFeedStore, FEED_MODEL_NAMES } from '../../src/feeds/registry.ts';
import { connectDatabase } from '../../src/storage/mongo.ts';
import { connectRedis } from '../../src/connections/redis.ts';
import { borrowDatabase, returnDatabase } from '../support/spare-databases.ts';
import { uniqueName } from '../support/unique-name.ts';
import { feedStoreCapConformance } from './feed-store-cap.conformance.ts';
import { feedStoreConformance } from './feed-store.conformance.ts';
import type { OpenFeedStore } from './feed-store-tools.ts';

const CAPPED = new Set(['capped', 'top-cache', 'redis']);

for (const model of FEED_MODEL_NAMES.filter((name) => name !== 'pull')) {
  const open: OpenFeedStore = async ({ cap = 1_000 } = {}) => {
    const database = await connectDatabase({ uri: inject('mongodbUri'), db: await borrowDatabase() });
    const redis = await connectRedis({ url: inject('redisUrl') });
    return {
      store: createFeedStore(model, {
        collections: database.collections,
        cap,
        redis: redis.commands,
        redisPrefix: `${uniqueName('test')}:`,
      }),
      async [Symbol.asyncDispose]() {
        await redis.close();
        await returnDatabase(database);
        await database.close();
      },
    };
  };
  feedStoreConformance(model, open);
  feedStoreCapConformance(model, open, { hasCap: CAPPED.has(model) });
}
