import DataLoader from 'dataloader';
import type { ReaderSession } from './reader-session.ts';

/** Most keys of one query. */
const MAX_BATCH = 100;

/**
 * Makes what loads by keys that are more than an id: those that one session asks for in one turn of the event loop are
 * loaded together. Remembers nothing.
 *
 * @param load the values in the order of the keys.
 */
export function sessionBatches<K, V>(
  load: (keys: readonly K[]) => Promise<readonly V[]>,
): (session: ReaderSession, key: K) => Promise<V> {
  const loaders = new WeakMap<ReaderSession, DataLoader<K, V>>();
  return (session, key) => {
    let loader = loaders.get(session);
    if (loader === undefined) {
      loader = new DataLoader<K, V>((keys) => load(keys), { cache: false, maxBatchSize: MAX_BATCH });
      loaders.set(session, loader);
    }
    return loader.load(key);
  };
}
