import { clock } from '../lib/clock.ts';
import { REVISED_SINCE } from './migrations/revisions.ts';
import type { SchemaVersionRepository } from './schema-version.ts';

const ASK_AGAIN_MS = 60_000;

/**
 * Whether every process that writes to the database gives actions another revision with every change: from the end of a
 * migration on, which waits for the last process of an older release. Asked now and then until it is so.
 */
export function revisionTrust(schemaVersion: Pick<SchemaVersionRepository, 'state'>): () => Promise<boolean> {
  let isTrusted = false;
  let askedAt = -Infinity;
  return async () => {
    const now = clock.time();
    if (isTrusted || now - askedAt < ASK_AGAIN_MS) return isTrusted;
    askedAt = now;
    const state = await schemaVersion.state();
    // A process notes the version before it does anything else. Where there is none, nothing has been written.
    isTrusted = state === null || state.version >= REVISED_SINCE;
    return isTrusted;
  };
}
