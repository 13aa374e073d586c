import type { Database, Finding } from '../../../src/storage/database/mongo.ts';
import { mailboxesRepository } from './store.ts';

/** Members who are sent no mails, by reason. */
export async function* examineMails({ collections }: Database): AsyncGenerator<Finding> {
  for (const { reason, count } of await mailboxesRepository(collections).countOff())
    yield {
      state: 'note',
      what: 'Mails',
      detail: `None are sent to ${String(count)} ${count === 1 ? 'member' : 'members'}: ${reason}`,
    };
}
