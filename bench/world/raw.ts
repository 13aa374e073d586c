import type { Collection, Db } from 'mongodb';
import type { ActionDocument, FollowDocument, NewsfeedItemDocument } from '../../src/storage/documents.ts';
import { ensureIndexes } from '../../src/storage/indexes.ts';
import type { Environment } from '../harness/environment.ts';

/** Collections of the same documents with the same indexes, for the plain driver alone. */
export interface RawWorld extends AsyncDisposable {
  readonly db: Db;
  readonly items: Collection<NewsfeedItemDocument>;
  readonly actions: Collection<ActionDocument>;
  readonly follows: Collection<FollowDocument>;
}

/** The collections of a database as the plain driver sees them; every index of Fanfare is there. */
export async function openRawWorld(environment: Environment, name: string): Promise<RawWorld> {
  const db = environment.driver.db(name);
  await ensureIndexes(db);
  return {
    db,
    items: db.collection('newsfeedItems'),
    actions: db.collection('actions'),
    follows: db.collection('follows'),
    [Symbol.asyncDispose]: async () => {
      await db.dropDatabase();
    },
  };
}

const LOAD_BATCH = 5_000;

/** Loads many documents as fast as the engine takes them. */
export async function load<T extends object>(
  collection: { insertMany(documents: T[], options: { ordered: boolean }): Promise<unknown> },
  count: number,
  make: (index: number) => T,
): Promise<void> {
  for (let from = 0; from < count; from += LOAD_BATCH) {
    const length = Math.min(LOAD_BATCH, count - from);
    await collection.insertMany(
      Array.from({ length }, (_, index) => make(from + index)),
      { ordered: false },
    );
  }
}
