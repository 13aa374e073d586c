import type { UserId } from '../../domain/action.ts';
import { MAX_BLOCKS } from '../../domain/block.ts';
import { decodeRow, encodeRow } from '../../domain/cursor.ts';
import { badInput, FanfareError } from '../../domain/errors.ts';
import { idBeside, plainId } from '../../domain/stored-id.ts';
import { nobody } from '../../feed/loads/own-blocks.ts';
import type { FollowedRef } from '../../feed/loads/own-follows.ts';
import { isAffectedByBlocks } from '../../domain/viewer.ts';
import { idSchema } from '../../descriptors/id-schema.ts';
import { announceListChange } from '../../feed/announce.ts';
import { askedPage, collectPage } from '../../feed/page/paging.ts';
import type { ReaderMarks } from '../../feed/store/feeds.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import { clock } from '../../lib/clock.ts';
import type { Core } from '../../core/core.ts';
import { endBlockedFollow, endOfNobody } from '../follow/unfollow.ts';
import type { Page, PageArgs } from '../../core/shapes.ts';
import { validate } from '../../core/validate.ts';
import type { BlockPosition, OwnBlock } from './store.ts';

/**
 * From now on neither sees the other, by any way in, and follows between them end. Repeated, it completes an interrupted
 * call, and tells nobody anything.
 * @throws FanfareError BAD_USER_INPUT, CONFLICT when there are too many
 */
export async function blockMember(core: Core, session: ReaderSession, memberId: UserId): Promise<void> {
  const { userId } = session.identity;
  const otherId = checkOther(userId, memberId);
  const [count, before] = await Promise.all([
    core.blocks.count(userId, MAX_BLOCKS),
    core.feeds.marks(userId),
  ]);
  const isFull = count === MAX_BLOCKS;
  const [known] = isFull ? await core.blocks.findPairs([{ userId, otherId }]) : [];
  if (isFull && known?.isOwn !== true)
    throw new FanfareError('CONFLICT', `No more than ${String(MAX_BLOCKS)} members can be blocked`);
  // Before the block: who has the mark and no blocks is only read once more.
  await core.feeds.markBlocks([userId, otherId]);
  const isNew = await core.blocks.add(userId, otherId, clock.now());
  await changed(core, [userId, otherId], { isAnnounced: isNew || isCutOff(before) });
  for (const [followerId, refId] of [
    [userId, otherId],
    [otherId, userId],
  ] as const) {
    const [known] = await core.follows.find(followerId, [refId]);
    if (known?.active !== true) continue;
    await endBlockedFollow(core, { followerId, refId });
  }
  const [block] = await core.blocks.findPairs([{ userId, otherId }]);
  await endOfNobody(core, { followerId: userId, refId: otherId }, block?.followed ?? null, true);
}

/**
 * Ends the block; follows stay ended. Repeated, it completes an interrupted call. Does nothing when there is none, and tells nobody.
 * @throws FanfareError BAD_USER_INPUT
 */
export async function unblockMember(core: Core, session: ReaderSession, memberId: UserId): Promise<void> {
  const { userId } = session.identity;
  const otherId = checkOther(userId, memberId);
  const [before, [known]] = await Promise.all([
    core.feeds.marks(userId),
    core.blocks.findPairs([{ userId, otherId }]),
  ]);
  if (known === undefined && !isCutOff(before)) return;
  await core.feeds.suspendBlocks([userId, otherId]);
  const isEnded = await core.blocks.remove(userId, otherId);
  await changed(core, [userId, otherId], { isAnnounced: isEnded || isCutOff(before) });
}

/** A change of the reader's blocks is under way, or was interrupted before watchers were notified. */
function isCutOff({ hasBlocks, blocksRev }: Pick<ReaderMarks, 'hasBlocks' | 'blocksRev'>): boolean {
  return hasBlocks && blocksRev === null;
}

function checkOther(userId: UserId, memberId: UserId): UserId {
  const id = validate(idSchema, memberId, ['memberId']);
  if (id === userId) throw badInput('Must be somebody else', ['memberId']);
  return id;
}

/** The reason that watchers are given is one of several things, so that it tells nobody of a block. */
async function changed(
  core: Core,
  userIds: readonly UserId[],
  { isAnnounced }: { readonly isAnnounced: boolean },
): Promise<void> {
  await core.readerStamps.renew(userIds);
  if (isAnnounced) await announceListChange(core, userIds, 'membership');
  // Last: until then a retry finds that this was interrupted, and nothing is kept that is made of their blocks.
  await core.feeds.renewBlocks(userIds);
}

export interface BlockedMember {
  readonly userId: UserId;
  readonly nobody: FollowedRef | null;
}

/** The members whom the viewer blocks, the newest first. @throws FanfareError BAD_USER_INPUT, BAD_CURSOR */
export async function readBlocks(
  { blocks }: Core,
  { identity }: ReaderSession,
  args: PageArgs,
): Promise<Page<BlockedMember>> {
  const { userId } = identity;
  const list = `blocks:${userId}`;
  const page = await collectPage<BlockPosition, OwnBlock, OwnBlock>({
    page: askedPage(args, (cursor) => positionIn(userId, list, cursor)),
    scan: (stretch) => blocks.list(userId, stretch),
    select: (found) => Promise.resolve(found),
    cursorOf: ({ memberId, since }) => encodeRow(list, [since, plainId(memberId)]),
  });
  return {
    ...page,
    edges: page.edges.map(({ cursor, node: { memberId, isUnknown, followed } }) => ({
      cursor,
      node: {
        userId: memberId,
        nobody: isUnknown && isAffectedByBlocks(identity) ? nobody(memberId, followed) : null,
      },
    })),
  };
}

function positionIn(userId: UserId, list: string, cursor: string): BlockPosition {
  const [since, memberId] = decodeRow(list, cursor, ['time', 'text']);
  return { since, memberId: idBeside(userId, memberId) };
}
