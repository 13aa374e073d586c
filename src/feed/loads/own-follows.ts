import type { RefId } from '../../domain/action.ts';
import type { Ref } from '../../domain/member.ts';
import type { Follow } from '../../domain/viewer.ts';
import { ownLoad } from '../session/load.ts';
import type { ReaderSession } from '../session/reader-session.ts';

/** The reader's own follow of a ref. */
export const FOLLOW = ownLoad({
  batch: ({ follows }, wanted) =>
    follows.findPairs(wanted.map(({ userId, id }) => ({ followerId: userId, refId: id }))),
  key: ({ followerId, refId }) => [followerId, refId],
});

/** A ref, with the reader's follow of it if that has just been written. */
export interface FollowedRef extends Ref {
  readonly own?: Follow;
  /** Shown as an id that nobody has, whatever is known of it. */
  readonly isNobody?: true;
  /** Looks for what names a ref that nobody has described; absent: type and label are all there is. */
  readonly named?: () => Promise<Pick<Ref, 'type' | 'label'>>;
}

export async function ownFollow(
  session: ReaderSession,
  ref: Pick<Ref, 'refId'> & { readonly own?: Follow },
): Promise<Follow | null> {
  return ref.own ?? session.load(FOLLOW, ref.refId);
}

export async function loadFollows(session: ReaderSession, refIds: readonly RefId[]): Promise<Follow[]> {
  return (await session.loadMany(FOLLOW, refIds)).filter((follow) => follow !== null);
}
