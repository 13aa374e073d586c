import type { UserId } from '../../domain/action.ts';
import { isAffectedByBlocks, type Identity } from '../../domain/viewer.ts';
import { ownLoad } from '../../feed/session/load.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';

const BLOCK_WITH = ownLoad({
  batch: ({ blocks }, wanted) => blocks.findPairs(wanted.map(({ userId, id }) => ({ userId, otherId: id }))),
  key: ({ userId, otherId }) => [userId, otherId],
});

/**
 * `isBlocked` where nothing else of the reader is needed: whether there is a block between the reader and a member, either
 * way. One read for all that are asked about together; none for whom blocks do not affect.
 */
export async function isBlockedFor(session: ReaderSession, memberId: UserId): Promise<boolean> {
  if (!mayBeBlocked(session.identity, memberId)) return false;
  return (await session.load(BLOCK_WITH, memberId)) !== null;
}

/** Whether a block between the reader and a member would matter. */
export function mayBeBlocked(identity: Identity, memberId: UserId): boolean {
  return memberId !== identity.userId && isAffectedByBlocks(identity);
}
