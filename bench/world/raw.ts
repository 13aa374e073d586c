import type { Collection, Db } from 'mongodb';
import type { ActionDocument, NewsfeedItemDocument } from '../../src/storage/documents/documents.ts';
import type { FollowDocument } from '../../src/storage/documents/reader-documents.ts';
import { allIndexes } from '../../src/app/collections.ts';
import { ensureIndexes } from '../../src/storage/indexes/indexes.ts';
import type { Environment } from '../harness/environment.ts';
import { untilDone } from '../harness/statistics.ts';

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
  await ensureIndexes(db, allIndexes());
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
/** Batches under way at once. */
const LOAD_LANES = 2;

/** Loads many documents as fast as the engine takes them. */
export async function load<T extends object>(
  collection: { insertMany(documents: T[], options: { ordered: boolean }): Promise<unknown> },
  count: number,
  make: (index: number) => T,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const from = next;
      next += LOAD_BATCH;
      const length = Math.min(LOAD_BATCH, count - from);
      await collection.insertMany(
        Array.from({ length }, (_, index) => make(from + index)),
        { ordered: false },
      );
    }
  };
  await Promise.all(Array.from({ length: LOAD_LANES }, lane));
}

/** Tells the engine's planner what was loaded, which it would find out only after a while. */
export async function informPlanner({ db }: Pick<RawWorld, 'db'>): Promise<void> {
  for (const { name } of await db.listCollections({}, { nameOnly: true }).toArray())
    await db.command({ planCacheClear: name });
}

/** Actions whose fan-out is not done. */
export function openFanOuts({ actions }: Pick<RawWorld, 'actions'>): Promise<number> {
  return actions.countDocuments({
    'fanOut.state': { $in: ['PENDING', 'IN_PROGRESS'] },
    'fanOut.leaseUntil': { $exists: true },
  });
}

/** Resolves when no fan-out is open. @throws Error unless so many items are stored then. */
export async function waitUntilStored(world: RawWorld, count: number): Promise<void> {
  await untilDone('Fan-outs', 50, () => openFanOuts(world));
  const stored = await world.items.countDocuments({});
  if (stored !== count) throw new Error(`${String(stored)} items are stored instead of ${String(count)}`);
}
