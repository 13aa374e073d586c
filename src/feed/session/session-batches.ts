import type { Core } from '../../features/core.ts';
import { batched } from './open-session.ts';
import type { ReaderSession } from './reader-session.ts';

const MAX_BATCH = 100;

/**
 * `batched` for each session separately; a session belongs to one core. @param load returns the values in the order of the
 * keys.
 */
export function sessionBatches<K, V>(
  load: (core: Core, session: ReaderSession, keys: readonly K[]) => Promise<readonly V[]>,
): (core: Core, session: ReaderSession, key: K) => Promise<V> {
  const loaders = new WeakMap<ReaderSession, (key: K) => Promise<V>>();
  return (core, session, key) => {
    let loader = loaders.get(session);
    if (loader === undefined) {
      loader = batched((keys) => load(core, session, keys), MAX_BATCH);
      loaders.set(session, loader);
    }
    return loader(key);
  };
}
