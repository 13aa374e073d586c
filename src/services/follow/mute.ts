import type { UserId } from '../../domain/action.ts';
import { badInput, FanfareError } from '../../domain/errors.ts';
import { idSchema } from '../../descriptors/define.ts';
import { announceListChange, type AnnounceDependencies } from '../../realtime/announce.ts';
import type { FeedsRepository } from '../../storage/feeds.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import { validate } from '../validate.ts';

/** Most members one reader can mute: every request of theirs reads the list. */
export const MAX_MUTED = 1_000;

/**
 * Keeps a member's actions out of the reader's feed from now on, past ones included, without touching what is stored.
 * @throws FanfareError BAD_USER_INPUT, CONFLICT when the reader mutes too many.
 */
export async function mute(
  dependencies: AnnounceDependencies & { readonly feeds: Pick<FeedsRepository, 'mute'> },
  session: ReaderSession,
  memberId: UserId,
): Promise<void> {
  const { userId } = session.identity;
  const id = validate(idSchema, memberId, ['memberId']);
  if (id === userId) throw badInput('Must be somebody else', ['memberId']);
  if (!(await dependencies.feeds.mute(userId, id, MAX_MUTED)))
    throw new FanfareError('CONFLICT', `No more than ${String(MAX_MUTED)} members can be muted`);
  await announceListChange(dependencies, [userId], 'mutes');
}

/** @throws FanfareError BAD_USER_INPUT */
export async function unmute(
  dependencies: AnnounceDependencies & { readonly feeds: Pick<FeedsRepository, 'unmute'> },
  session: ReaderSession,
  memberId: UserId,
): Promise<void> {
  const { userId } = session.identity;
  await dependencies.feeds.unmute(userId, validate(idSchema, memberId, ['memberId']));
  await announceListChange(dependencies, [userId], 'mutes');
}
