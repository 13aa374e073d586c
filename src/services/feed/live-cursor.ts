import type { UserId } from '../../domain/action.ts';
import type { LiveLog } from '../../realtime/live-log.ts';

export interface LiveCursorDependencies {
  readonly liveLog: Pick<LiveLog, 'position'>;
  /** The live log could not be reached: the cursor that is given then leads to FeedResync. */
  readonly onLiveLogError: (error: unknown) => void;
}

/** Not a cursor of any log: anyone who resumes there gets FeedResync. */
const NOWHERE = 'unknown';

/** Taken before a page is read: what is written after it is either in the page or comes after the cursor. */
export async function liveCursorOf(
  { liveLog, onLiveLogError }: LiveCursorDependencies,
  userId: UserId,
): Promise<string> {
  try {
    return await liveLog.position(userId);
  } catch (error) {
    onLiveLogError(error);
    return NOWHERE;
  }
}
