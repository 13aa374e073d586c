import type { Core } from '../../src/core/core.ts';
import type { Collections } from '../../src/storage/database/mongo.ts';
import { createRepositories } from '../../src/app/repositories.ts';

/** A context on collections of which a test uses the repositories and what it gives; the rest is missing. */
export function storageContext(collections: Collections, given: Partial<Core> = {}): Core {
  return { ...createRepositories(collections, { recordsEvents: true }), ...given } as Core;
}
