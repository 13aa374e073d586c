import DataLoader from 'dataloader';
import { inParts } from '../../lib/gathered.ts';
import { mayBeOfOne } from '../../storage/database/errors.ts';

interface BatchOptions<K> {
  /** Keys at once; more are split. */
  readonly most: number;
  /** Keys with equal names are equal. Default: for keys that are texts. */
  readonly nameOf?: (key: K) => string;
  /** Whether a value is kept as long as the loader. Otherwise only until its load begins. */
  readonly keeps: boolean;
}

/**
 * Loads together what is asked for in one turn of the event loop. A key that cannot be loaded fails for those alone who ask for it.
 * @param load returns what gives the value of each key.
 */
export function batchesOf<K, V>(
  load: (keys: readonly K[]) => Promise<(key: K) => V>,
  { most, nameOf = String, keeps }: BatchOptions<K>,
): DataLoader<K, V, string> {
  const loader: DataLoader<K, V, string> = new DataLoader<K, V, string>(
    async (keys) => {
      if (!keeps) loader.clearAll();
      const parts = await inParts(keys, load, mayBeOfOne);
      return keys.map((key, index) => {
        try {
          return parts(index)(key);
        } catch (error) {
          loader.clear(key);
          return asError(error);
        }
      });
    },
    { maxBatchSize: most, cacheKeyFn: nameOf },
  );
  return loader;
}

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error('A load has failed', { cause: error });
