import { clock } from '../../lib/clock.ts';
import type { SchemaVersionRepository } from './schema-version.ts';

const ASK_AGAIN_MS = 60_000;

/**
 * Whether every process that writes to the database notes what it changes as it is done since a schema version: from the
 * end of its migration on, which waits for the last process of an older release. Asked now and then until it is so.
 */
export function isTrustedSince(
  schemaVersion: Pick<SchemaVersionRepository, 'state'>,
  version: number,
  { askAgainMs = ASK_AGAIN_MS }: { readonly askAgainMs?: number } = {},
): () => Promise<boolean> {
  let isTrusted = false;
  let askedAt = -Infinity;
  return async () => {
    const now = clock.time();
    if (isTrusted || now - askedAt < askAgainMs) return isTrusted;
    askedAt = now;
    const state = await schemaVersion.state();
    // A process notes the version before it does anything else. Where there is none, nothing has been written.
    isTrusted = state === null || state.version >= version;
    return isTrusted;
  };
}
