import type { Database, Finding } from '../../../src/storage/database/mongo.ts';
import { webhookDeliveriesRepository } from './store.ts';

/** Deliveries that nobody retries any more, by receiver and reason. */
export async function* examineWebhooks({ collections }: Database): AsyncGenerator<Finding> {
  for (const { url, error, count } of await webhookDeliveriesRepository(collections).failed())
    yield {
      state: 'note',
      what: 'Webhooks',
      detail: `${String(count)} deliveries to ${new URL(url).host} failed: ${error}`,
    };
}
