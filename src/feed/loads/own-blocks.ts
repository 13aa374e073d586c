import type { ActionRef, UserId } from '../../domain/action.ts';
import { isBlocked, NO_BLOCKS } from '../../domain/block.ts';
import type { BlockBetween } from '../../storage/documents/block-document.ts';
import type { FollowedRef } from './own-follows.ts';
import { isAffectedByBlocks, type Identity, type Follow, type ReaderProfile } from '../../domain/viewer.ts';
import { once } from '../../lib/once.ts';
import { ownLoad } from '../session/load.ts';
import type { ReaderSession } from '../session/reader-session.ts';

const BLOCK_WITH = ownLoad({
  batch: ({ blocks }, wanted) => blocks.findPairs(wanted.map(({ userId, id }) => ({ userId, otherId: id }))),
  key: ({ userId, otherId }) => [userId, otherId],
});

const NAMED_BY_OWN = ownLoad({
  batch: ({ actions }, wanted) =>
    actions.firstUnnamed(wanted.map(({ userId, id }) => ({ actorId: userId, refId: id }))),
  key: ({ actorId, ref }) => [actorId, ref.id],
});

/**
 * `isBlocked` where nothing else of the reader is needed: whether there is a block between the reader and a member, either
 * way. One read for all that are asked about together; none for whom blocks do not affect.
 */
export async function isBlockedFor(session: ReaderSession, memberId: UserId): Promise<boolean> {
  return (await blockWith(session, memberId)) !== null;
}

/** Whether the reader blocks the member. No command for readers who never had a block. */
export async function blocksMember(session: ReaderSession, memberId: UserId): Promise<boolean> {
  const { blocks } = await session.profile();
  if (blocks === NO_BLOCKS) return false;
  return (await session.load(BLOCK_WITH, memberId))?.isOwn ?? false;
}

/**
 * Asks about these members, for the rules. One read for all that are asked about together; none for readers whose blocks are all
 * known.
 */
export async function learnBlocks(
  session: ReaderSession,
  { userId, blocks }: Pick<ReaderProfile, 'userId' | 'blocks'>,
  memberIds: readonly UserId[],
): Promise<void> {
  const asked = [...new Set(memberIds)].filter((id) => id !== userId && !blocks.knows(id));
  if (asked.length === 0) return;
  const found = await session.loadMany(BLOCK_WITH, asked);
  for (const [index, id] of asked.entries()) blocks.learn(id, found[index] !== null);
}

/** Those whose member has no block with the reader; `null`: nobody is behind it. One read at most, as `learnBlocks`. */
export async function withoutBlocked<T>(
  session: ReaderSession,
  items: readonly T[],
  memberOf: (item: T) => UserId | null,
): Promise<T[]> {
  const reader = await session.profile();
  await learnBlocks(
    session,
    reader,
    items.flatMap((item) => memberOf(item) ?? []),
  );
  return items.filter((item) => {
    const memberId = memberOf(item);
    return memberId === null || !isBlocked(reader, memberId);
  });
}

/** An id that nobody has, which at most one reader follows. */
export function nobody(refId: UserId, followed: Follow | null): FollowedRef {
  const own = followed ?? { refId, active: false, spans: [] };
  return { ...UNKNOWN, refId, own, followerCount: own.active ? 1 : 0 };
}

/** The same, with the name that the reader's own actions give it. */
export function nobodyNamed(session: ReaderSession, refId: UserId, followed: Follow | null): FollowedRef {
  const named = once(async () => (await ownNaming(session, refId)) ?? UNKNOWN);
  return { ...nobody(refId, followed), named };
}

const UNKNOWN = { type: null, label: null, followerCount: 0, isNobody: true } as const;

/** The name that the first of the reader's actions with the nameless id gives it. `null`: there is none. */
export async function ownNaming(session: ReaderSession, refId: UserId): Promise<ActionRef | null> {
  return (await session.load(NAMED_BY_OWN, refId))?.ref ?? null;
}

/** An id that an action has without a name, as it is to a reader; `own` is what they have done to follow whom blocks them. */
export async function unnamed(session: ReaderSession, refId: UserId): Promise<FollowedRef> {
  const followed = (await blockWith(session, refId))?.followed ?? null;
  return followed === null ? { ...UNKNOWN, refId } : nobody(refId, followed);
}

/** The block between the reader and a member; `null`: there is none, or none that matters. */
export async function blockWith(session: ReaderSession, memberId: UserId): Promise<BlockBetween | null> {
  return mayBeBlocked(session.identity, memberId) ? session.load(BLOCK_WITH, memberId) : null;
}

/** Whether a block between the reader and a member would matter. */
export function mayBeBlocked(identity: Identity, memberId: UserId): boolean {
  return memberId !== identity.userId && isAffectedByBlocks(identity);
}
