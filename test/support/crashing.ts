import type { Collections, Database } from '../../src/storage/database/mongo.ts';

const WRITES = new Set([
  'insertOne',
  'insertMany',
  'updateOne',
  'updateMany',
  'replaceOne',
  'deleteOne',
  'deleteMany',
  'bulkWrite',
  'findOneAndUpdate',
]);

/** What a process threw that died. */
export class Crash extends Error {}

/** Whether a write counts, by collection and the driver's answer. */
type Counts = (collection: string, answer: unknown) => boolean;

/**
 * The collections of a process that dies right after its n-th write: the write is done, its answer never comes, and
 * nothing can be read or written any more.
 *
 * @param counts which writes count. Default: all.
 */
export function crashingCollections(
  collections: Collections,
  writes: number,
  counts: Counts = () => true,
): Collections {
  return wrapAll(collections, dyingAfter(writes, counts));
}

/** The same with the collections that feed models open themselves. */
export function crashingDatabase(
  { db, collections }: Pick<Database, 'db' | 'collections'>,
  writes: number,
  counts: Counts = () => true,
): Pick<Database, 'db' | 'collections'> {
  const wrap = dyingAfter(writes, counts);
  return {
    collections: wrapAll(collections, wrap),
    db: new Proxy(db, {
      get: (target, property) =>
        property === 'collection'
          ? (name: string) => wrap(name, target.collection(name))
          : (Reflect.get(target, property, target) as unknown),
    }),
  };
}

type Wrap = <T extends object>(name: string, collection: T) => T;

function wrapAll(collections: Collections, wrap: Wrap): Collections {
  return Object.fromEntries(
    Object.entries(collections).map(([name, collection]) => [name, wrap(name, collection as object)]),
  ) as unknown as Collections;
}

function dyingAfter(writes: number, counts: Counts): Wrap {
  let left = writes;
  return (name, collection) =>
    new Proxy(collection, {
      get(target, property) {
        const member: unknown = Reflect.get(target, property, target);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]): unknown => {
          if (left <= 0) throw new Crash('dead');
          const result: unknown = Reflect.apply(member, target, args);
          if (!WRITES.has(String(property))) return result;
          return Promise.resolve(result).then((answer) => {
            if (counts(name, answer) && --left <= 0) throw new Crash('died after a write');
            return answer;
          });
        };
      },
    });
}

/** Whether a write to anything but the record of the erasure itself has changed something. */
export function changesTraces(collection: string, answer: unknown): boolean {
  if (collection === 'erasures' || typeof answer !== 'object' || answer === null) return false;
  const counts = answer as Readonly<Record<string, unknown>>;
  return ['modifiedCount', 'deletedCount', 'upsertedCount', 'insertedCount'].some(
    (field) => typeof counts[field] === 'number' && counts[field] > 0,
  );
}
