import type { UserId } from '../../domain/action.ts';
import type { ReadingDependencies } from '../service-parts.ts';

/** Not a cursor of any log: anyone who resumes there gets FeedResync. */
const NOWHERE = 'unknown';

/** Taken before a page is read: what is written after it is either in the page or comes after the cursor. */
export async function liveCursorOf(
  { liveLog, onLiveLogError }: Pick<ReadingDependencies, 'liveLog' | 'onLiveLogError'>,
  userId: UserId,
): Promise<string> {
  try {
    return await liveLog.position(userId);
  } catch (error) {
    onLiveLogError(error);
    return NOWHERE;
  }
}
