import DataLoader from 'dataloader';

/**
 * Batches loads by composite keys: keys requested in one turn of the event loop are loaded together, at most `size` at once.
 * Caches nothing.
 *
 * @param load returns the values in the order of the keys.
 */
export function batched<K, V>(
  load: (keys: readonly K[]) => Promise<readonly V[]>,
  size: number,
): (key: K) => Promise<V> {
  const loader = new DataLoader<K, V>((keys) => load(keys), { cache: false, maxBatchSize: size });
  return (key) => loader.load(key);
}
