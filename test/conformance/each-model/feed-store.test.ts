import { afterAll, beforeAll, inject } from 'vitest';
import { createFeedStore } from '../../../src/app/feed-models.ts';
import { connectRedis, type RedisConnections } from '../../../src/connections/redis.ts';
import { eachModel } from '../../support/some-models.ts';
import { borrowDatabase, openShared, returnDatabase } from '../../support/spare-databases.ts';
import { uniqueName } from '../../support/unique-name.ts';
import { feedStoreCapConformance } from '../feed-store-cap.conformance.ts';
import { feedStoreConformance } from '../feed-store.conformance.ts';
import type { OpenFeedStore } from '../feed-store-tools.ts';

let redis: RedisConnections;
beforeAll(async () => {
  redis = await connectRedis({ url: inject('redisUrl') });
});
afterAll(() => redis.close());

const CAPPED = new Set(['capped', 'top-cache', 'redis']);

for (const model of eachModel().filter((name) => name !== 'pull')) {
  const open: OpenFeedStore = async ({ cap = 1_000 } = {}) => {
    const database = await openShared(await borrowDatabase());
    return {
      store: createFeedStore(model, {
        db: database.db,
        cap,
        redis: [{ ...redis, prefix: `${uniqueName('test')}:` }],
      }),
      async [Symbol.asyncDispose]() {
        await returnDatabase(database);
      },
    };
  };
  feedStoreConformance(model, open);
  feedStoreCapConformance(model, open, { hasCap: CAPPED.has(model) });
}
