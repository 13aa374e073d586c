import type { Core } from '../core.ts';
import { decodeCursor, encodeCursor } from '../../domain/cursor.ts';
import type { Ref } from '../../domain/member.ts';
import { idBeside, plainId } from '../../domain/tenant.ts';
import { refsOf } from '../directory/read-directory.ts';
import { collectPage, pageSize } from '../../feed/page/paging.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import type { Page, PageArgs } from '../shapes.ts';

/** The reader's follows, in order of ref id. @throws FanfareError BAD_USER_INPUT, BAD_CURSOR */
export async function following(core: Core, session: ReaderSession, args: PageArgs): Promise<Page<Ref>> {
  const userId = session.identity.userId;
  const list = `following:${userId}`;
  return collectPage<string, string, Ref>({
    size: pageSize(args.first),
    after: args.after == null ? null : idBeside(userId, decodeCursor(list, args.after).toString('utf8')),
    scan: (after, limit) => core.follows.following(userId, after, limit),
    select: (refIds) => refsOf(core, session, refIds),
    cursorOf: (ref) => encodeCursor(list, Buffer.from(plainId(ref.refId), 'utf8')),
  });
}
