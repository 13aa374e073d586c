import type { Context } from '../feed/context.ts';
import type { Action, UserId } from '../domain/action.ts';
import { namedBy } from '../domain/audience.ts';
import { KINDS_ABOUT_ACTIONS } from '../domain/notification.ts';
import {
  announce,
  removals,
  surviveLiveLog,
  withdrawnFromLists,
  type Announcement,
} from '../feed/announce.ts';
import { audienceAmong } from './audience.ts';

const CHUNK = 500;

/**
 * Notifies all watchers to whom the action is addressed that it is gone, whether it is stored in their feed or pulled.
 * Members whom an interaction with it concerns are notified as well, and who watches a slice that has it, or its thread. Called when the action is hidden or deleted; its pass
 * repeats it if that call was interrupted or failed. Costs one append, one presence list, a query for whom its interactions concern if
 * anybody watches, and a query per 500 watchers.
 * @returns whether all were notified.
 */
export async function announceWithdrawal(dependencies: Context, action: Action, at: Date): Promise<boolean> {
  try {
    return await notifyOfWithdrawal(dependencies, action, at);
  } catch (error) {
    dependencies.onLiveLogError(error);
    return false;
  }
}

/**
 * The same by the pass, which removes entries and notifies readers who have the action for an outdated reason. If the live
 * log does not answer, it asks everybody to resync as soon as it does.
 * @throws errors of the database: the pass is repeated, since nobody else notifies them
 */
export async function announceWithdrawalInPass(
  dependencies: Context,
  action: Action,
  at: Date,
): Promise<void> {
  try {
    await notifyOfWithdrawal(dependencies, action, at);
  } catch (error) {
    surviveLiveLog(error, dependencies.onLiveLogError);
  }
}

async function notifyOfWithdrawal(dependencies: Context, action: Action, at: Date): Promise<boolean> {
  const { liveLog, interactions } = dependencies;
  let isNotified = true;
  const notify = async (announcements: readonly Announcement[]): Promise<void> => {
    isNotified = (await announce(dependencies, announcements, { asksWho: false })) && isNotified;
  };
  await notify(withdrawnFromLists(action));
  let concerned: ReadonlySet<UserId> | null = null;
  for await (const watched of liveLog.allWatched()) {
    concerned ??= new Set([
      ...[action.actorId, ...namedBy(action.audience).keys()],
      ...(await interactions.concernedBy(action.id)),
    ]);
    await notify(
      watched
        .filter((userId) => concerned?.has(userId))
        .map((userId) => ({
          userId,
          event: { kind: 'notification', of: action.id, kinds: KINDS_ABOUT_ACTIONS },
        })),
    );
    for (let from = 0; from < watched.length; from += CHUNK) {
      const audience = await audienceAmong(dependencies, action, watched.slice(from, from + CHUNK));
      await notify(
        removals(
          action.id,
          audience.map(({ userId }) => userId),
          at,
        ),
      );
    }
  }
  return isNotified;
}

/** Watching readers among these who were not notified by `announceWithdrawal`. Queries only watchers. */
export async function notAddressed(
  dependencies: Context,
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
