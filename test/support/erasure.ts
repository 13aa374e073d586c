import { BSON } from 'mongodb';
import { createEveryFeedStore } from '../../src/app/feed-models.ts';
import { MemoryLiveLog, MemorySessionEnds } from './memory-live-log.ts';
import type { Core } from '../../src/core/core.ts';
import { eraseMember } from '../../parts/erasure/src/erase-member.ts';
import { erasure } from '../../parts/erasure/src/jobs/erasure.ts';
import type { Database } from '../../src/storage/database/mongo.ts';
import { runnerOf } from './jobs.ts';
import type { Parts } from './parts.ts';
import { storageContext } from './storage-context.ts';

function fail(error: unknown): never {
  throw error;
}

/** What an erasure needs, with a second look that is due at once. */
export function erasureParts(
  { db, collections }: Pick<Database, 'db' | 'collections'>,
  overrides: Partial<Core> = {},
): Core {
  return storageContext(collections, {
    feedStores: createEveryFeedStore('items', { db, cap: 1_000, redis: [] }),
    liveLog: new MemoryLiveLog(),
    onLiveLogError: fail,
    sessionEnds: new MemorySessionEnds(),
    erasureTiming: { leaseMs: 30_000, confirmAfterMs: 0 },
    forgetDeleted: () => Promise.resolve(),
    ...overrides,
  });
}

/** Erases somebody, the second look included. */
export async function erase(parts: Parts, memberId: string): Promise<void> {
  const dependencies = erasureParts(parts.database);
  // On a busy machine the request may leave some of it to the worker.
  await eraseMember(dependencies, parts.admin, memberId);
  await finishErasures(parts, dependencies);
}

/** Runs a worker until no erasure is due. */
export async function finishErasures(
  parts: Parts,
  dependencies: Core = erasureParts(parts.database),
): Promise<void> {
  const worker = runnerOf(erasure, dependencies);
  const { erasures } = parts.database.collections;
  while ((await erasures.countDocuments({ state: { $ne: 'DONE' } })) > 0) await worker.round();
}

/** Where a text stands in the database: every collection as extended JSON, one line per document that has it. */
export async function placesOf(database: Database, ...texts: readonly string[]): Promise<string[]> {
  const places: string[] = [];
  for (const collection of await database.db.collections())
    for await (const document of collection.find()) {
      const json = BSON.EJSON.stringify(document);
      if (texts.some((text) => json.toLowerCase().includes(text.toLowerCase())))
        places.push(`${collection.collectionName}: ${json}`);
    }
  return places;
}
