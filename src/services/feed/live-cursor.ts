import type { Core } from '../core.ts';
import type { UserId } from '../../domain/action.ts';

/** Not a valid log position: a client that resumes from it gets FeedResync. */
const NOWHERE = 'unknown';

/** Taken before a page is read: later changes are in the page or come after the cursor, possibly both. */
export async function liveCursorOf({ liveLog, onLiveLogError }: Core, userId: UserId): Promise<string> {
  try {
    return await liveLog.position(userId);
  } catch (error) {
    onLiveLogError(error);
    return NOWHERE;
  }
}
