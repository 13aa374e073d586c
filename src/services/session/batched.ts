import DataLoader from 'dataloader';

/**
 * Loads by keys that are more than an id: those asked for in one turn of the event loop are loaded together, at most
 * `size` at once. Remembers nothing.
 *
 * @param load the values in the order of the keys.
 */
export function batched<K, V>(
  load: (keys: readonly K[]) => Promise<readonly V[]>,
  size: number,
): (key: K) => Promise<V> {
  const loader = new DataLoader<K, V>((keys) => load(keys), { cache: false, maxBatchSize: size });
  return (key) => loader.load(key);
}
