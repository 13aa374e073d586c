import type DataLoader from 'dataloader';
import type { Core } from '../../core/core.ts';
import { batchesOf } from './batches-of.ts';
import type { ReaderSession } from './reader-session.ts';

const MAX_BATCH = 100;

/**
 * Loads of one session that need more than an id, or more than a repository: at most a hundred at once and each key once. A session
 * belongs to one core. Keeps nothing.
 * @param load returns the values in the order of the keys.
 */
export function sessionBatches<K, V>(
  load: (core: Core, session: ReaderSession, keys: readonly K[]) => Promise<readonly V[]>,
  nameOf: (key: K) => string,
): (core: Core, session: ReaderSession, key: K) => Promise<V> {
  const loaders = new WeakMap<ReaderSession, DataLoader<K, V, string>>();
  return (core, session, key) => {
    let loader = loaders.get(session);
    if (loader === undefined) {
      const loadAll = async (keys: readonly K[]): Promise<(key: K) => V> => {
        session.reading.check();
        const values = await load(core, session, keys);
        return (key) => values[keys.indexOf(key)] as V;
      };
      loader = batchesOf(loadAll, { nameOf, most: MAX_BATCH, keeps: false });
      loaders.set(session, loader);
    }
    return loader.load(key);
  };
}
