import type { Database, Finding } from '../../../src/storage/database/mongo.ts';
import { underWay } from './store/offloads.ts';

/** Actions of an interrupted offload are invisible. */
export async function* examineOffloads({ collections }: Database): AsyncGenerator<Finding> {
  for (const { isReturning, actions } of await underWay(collections))
    yield {
      state: 'note',
      what: 'Offload',
      detail: isReturning
        ? `${String(actions)} actions are being restored; if no restore is running, run it again with the same file`
        : `${String(actions)} actions are being offloaded; if no offload is running, run it again with the same day and file`,
    };
}
