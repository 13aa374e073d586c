import type { Collections } from './database/mongo.ts';
import type { Declaration } from './documents/declaration.ts';

/**
 * All that a process reads and writes documents by. The file of a repository adds it to this type, and
 * `app/repositories.ts` makes it.
 */
export interface Repositories {
  readonly collections: Collections;
  readonly declarations: readonly Declaration[];
}
