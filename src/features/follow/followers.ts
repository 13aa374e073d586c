import type { RefId, UserId } from '../../domain/action.ts';
import { decodeRow, encodeRow } from '../../domain/cursor.ts';
import { idBeside, plainId } from '../../domain/stored-id.ts';
import type { FollowerSlice } from './store/follower-counts.ts';
import type { Core } from '../../core/core.ts';
import { askedPage, collectPage } from '../../feed/page/paging.ts';
import { requireOneOf } from '../../core/validate.ts';
import type { Page, PageArgs } from '../../core/shapes.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import { sessionBatches } from '../../feed/session/session-batches.ts';
import type { Ref } from '../../domain/member.ts';
import { nobodyNamed } from '../../feed/loads/own-blocks.ts';
import type { Followed } from './store/follow-starts.ts';
import { refsOf } from '../directory/read-directory.ts';

export interface Follower {
  readonly userId: UserId;
}

const load = sessionBatches<FollowerSlice, UserId[]>(
  ({ followerPages }, _session, slices) => followerPages.read(slices),
  (slice) => JSON.stringify(slice),
);

/** Reads followers in order of id, batched for all refs of a page. @throws FORBIDDEN, BAD_USER_INPUT, BAD_CURSOR */
export async function readFollowers(
  core: Core,
  session: ReaderSession,
  refId: RefId,
  args: PageArgs,
): Promise<Page<Follower>> {
  requireOneOf(session.identity, ['admin', 'service']);
  const list = `followers:${refId}`;
  return collectPage<Follower, Follower, Follower>({
    page: askedPage(args, (cursor) => ({ userId: idBeside(refId, decodeRow(list, cursor, ['text'])[0]) })),
    scan: async (stretch) => {
      const ids = await load(core, session, { refId, ...stretch });
      return ids.map((userId) => ({ userId }));
    },
    select: (followers) => Promise.resolve(followers),
    cursorOf: ({ userId }) => encodeRow(list, [plainId(userId)]),
  });
}

/**
 * The reader's follows, in order of ref id.
 * @param listId only what is in this list of the reader. Default: all
 * @throws FanfareError BAD_USER_INPUT, BAD_CURSOR
 */
export async function following(
  core: Core,
  session: ReaderSession,
  args: PageArgs,
  listId?: string,
): Promise<Page<Ref>> {
  const userId = session.identity.userId;
  const list = listId === undefined ? `following:${userId}` : `list:${listId}`;
  return collectPage<Followed, Followed, Ref>({
    page: askedPage(args, (cursor) => ({
      refId: idBeside(userId, decodeRow(list, cursor, ['text'])[0]),
      ofNobody: null,
    })),
    scan: (stretch) => session.reading.run(() => core.followStarts.following(userId, stretch, listId)),
    select: async (followed) => {
      const known = await refsOf(
        session,
        followed.map(({ refId }) => refId),
      );
      return followed.map(({ refId, ofNobody }, index) =>
        ofNobody === null
          ? (known[index] ?? nobodyNamed(session, refId, null))
          : nobodyNamed(session, refId, ofNobody),
      );
    },
    cursorOf: (ref) => encodeRow(list, [plainId(ref.refId)]),
  });
}
