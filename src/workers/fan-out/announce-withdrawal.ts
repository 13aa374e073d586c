import type { Action, UserId } from '../../domain/action.ts';
import { removals } from '../../realtime/announce.ts';
import { audienceAmong } from './audience.ts';
import type { WatchingAudienceDependencies } from './fan-out-dependencies.ts';

const CHUNK = 500;

/**
 * Tells everybody who is watching and to whom the action is addressed that it is gone, whether their feed holds it or
 * pulls it. For the moment at which it is hidden or deleted, or for its pass where that was cut off. The pass removes it,
 * and notifies readers who have it for a reason of the past. Costs a look through all who watch, and a query per 500 of them.
 * @returns whether all were told.
 */
export async function announceWithdrawal(
  dependencies: WatchingAudienceDependencies,
  action: Action,
  at: Date,
): Promise<boolean> {
  const { liveLog, onLiveLogError } = dependencies;
  try {
    for await (const watched of liveLog.allWatched())
      for (let from = 0; from < watched.length; from += CHUNK) {
        const audience = await audienceAmong(dependencies, action, watched.slice(from, from + CHUNK));
        const userIds = audience.map(({ userId }) => userId);
        if (userIds.length > 0) await liveLog.append(removals(action.id, userIds, at));
      }
    return true;
  } catch (error) {
    onLiveLogError(error);
    return false;
  }
}

/** Which of these readers are watching and were not notified by `announceWithdrawal`. Only watchers are looked up. */
export async function notAddressed(
  dependencies: WatchingAudienceDependencies,
  action: Action,
  userIds: readonly UserId[],
): Promise<readonly UserId[]> {
  if (userIds.length === 0) return [];
  const { liveLog, onLiveLogError } = dependencies;
  let watched: readonly UserId[];
  try {
    watched = await liveLog.watched(userIds);
  } catch (error) {
    onLiveLogError(error);
    return [];
  }
  if (watched.length === 0) return [];
  const notified = new Set((await audienceAmong(dependencies, action, watched)).map(({ userId }) => userId));
  return watched.filter((userId) => !notified.has(userId));
}
