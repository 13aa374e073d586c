import { inject } from 'vitest';
import { createFeedStore, FEED_MODEL_NAMES } from '../../src/feeds/registry.ts';
import { connectDatabase } from '../../src/storage/mongo.ts';
import { borrowDatabase, returnDatabase } from '../support/spare-databases.ts';
import { feedStoreConformance } from './feed-store.conformance.ts';

for (const model of FEED_MODEL_NAMES) {
  feedStoreConformance(model, async () => {
    const database = await connectDatabase({ uri: inject('mongodbUri'), db: await borrowDatabase() });
    return {
      store: createFeedStore(model, { collections: database.collections }),
      async [Symbol.asyncDispose]() {
        await returnDatabase(database);
        await database.close();
      },
    };
  });
}
