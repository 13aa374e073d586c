import { ObjectId, type Collection } from 'mongodb';
import type { NewsfeedItemDocument } from '../../src/storage/documents/documents.ts';
import { itemId } from '../../src/feed/models/items.ts';
import { readerId } from './people.ts';

/** The items of one new action for so many readers, as the fan-out writes them. */
export function newItems(readers: number): NewsfeedItemDocument[] {
  const actionId = new ObjectId();
  const relevancy = new Date();
  return Array.from({ length: readers }, (_, index) => ({
    ...{ _id: itemId(readerId(index), actionId), userId: readerId(index) },
    ...{ actionId, relevancy, reasons: ['FOLLOW'] },
  }));
}

/** Documents of one insertMany: of the sizes that the part fan-out tries, none is faster by more than its spread. */
const BATCH = 5_000;

/** Stores items as fast as the plain driver does it: unordered, in large batches. */
export async function insertItems(
  collection: Collection<NewsfeedItemDocument>,
  items: readonly NewsfeedItemDocument[],
): Promise<void> {
  for (let from = 0; from < items.length; from += BATCH)
    await collection.insertMany(items.slice(from, from + BATCH), { ordered: false });
}
