import { batched } from './batched.ts';
import type { ReaderSession } from './reader-session.ts';

const MAX_BATCH = 100;

/** `batched` for each session separately. @param load returns the values in the order of the keys. */
export function sessionBatches<K, V>(
  load: (keys: readonly K[]) => Promise<readonly V[]>,
): (session: ReaderSession, key: K) => Promise<V> {
  const loaders = new WeakMap<ReaderSession, (key: K) => Promise<V>>();
  return (session, key) => {
    let loader = loaders.get(session);
    if (loader === undefined) {
      loader = batched(load, MAX_BATCH);
      loaders.set(session, loader);
    }
    return loader(key);
  };
}
