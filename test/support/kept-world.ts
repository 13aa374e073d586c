import { openParts, type Parts, type PartsOptions } from './parts.ts';

/** As they are stored: no number becomes one of another type. */
const AS_STORED = { promoteValues: false, promoteLongs: false, promoteBuffers: false };

/** What was made, in a database of its own. */
export type World<T> = T & { readonly parts: Parts } & AsyncDisposable;

/**
 * A world that takes many commands to make is made once in a process. Each call stores its documents in an empty database, and
 * opens that as a process that knows nothing yet.
 */
export function keptWorld<T extends object>(
  options: PartsOptions,
  make: (parts: Parts) => Promise<T>,
): () => Promise<World<T>> {
  const once = async () => {
    await using parts = await openParts(options);
    const made = await make(parts);
    const collections = await parts.database.db.collections();
    const documents = await Promise.all(
      collections.map(async (each) => ({
        name: each.collectionName,
        stored: await each.find({}, AS_STORED).toArray(),
      })),
    );
    return { made, documents: documents.filter(({ stored }) => stored.length > 0) };
  };
  let kept: ReturnType<typeof once> | undefined;
  return async () => {
    const { made, documents } = await (kept ??= once());
    const store: PartsOptions['store'] = async ({ db }) => {
      await Promise.all(documents.map(({ name, stored }) => db.collection(name).insertMany([...stored])));
    };
    const parts = await openParts({ ...options, store });
    return { ...made, parts, [Symbol.asyncDispose]: () => parts[Symbol.asyncDispose]() };
  };
}
