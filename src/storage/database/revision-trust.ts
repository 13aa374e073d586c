import { clock } from '../../lib/clock.ts';
import type { SchemaVersionRepository } from './schema-version.ts';

const ASK_AGAIN_MS = 60_000;

/**
 * Whether all writing processes follow the protocol introduced with a schema version: true once its migration has ended,
 * which waits for the last process of an older release. Queried periodically until it is true.
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
    // A process stores the version before anything else; without one, nothing has been written.
    isTrusted = state === null || state.version >= version;
    return isTrusted;
  };
}
