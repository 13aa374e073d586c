import type { Action, UserId } from '../../domain/action.ts';
import type { LiveLog } from '../../realtime/live-log.ts';
import { audienceAmong, type AudienceAmongDependencies, type AudienceMember } from './audience.ts';

export interface WatchersDependencies extends AudienceAmongDependencies {
  readonly liveLog: Pick<LiveLog, 'allWatched'>;
  readonly onLiveLogError: (error: unknown) => void;
}

/** Readers looked at in one go. */
const CHUNK = 500;
/** Most readers looked at: with more who watch, looking for those concerned takes longer than they would wait. */
const MOST = 2_000;

/**
 * Of the readers who are watching now, those to whom the action is to be delivered, with every reason. Costs a look
 * through who watches, and where somebody does a query per 500 of them, of 2,000 at most.
 */
export async function* watchersAmongAudience(
  dependencies: WatchersDependencies,
  action: Action,
): AsyncGenerator<AudienceMember[], void, undefined> {
  const watched = await someWatched(dependencies);
  for (let from = 0; from < watched.length; from += CHUNK) {
    const audience = await audienceAmong(dependencies, action, watched.slice(from, from + CHUNK));
    // What comes by pulling alone is not delivered.
    const pushed = audience.flatMap(({ userId, reasons }) => {
      const kept = reasons.filter((reason) => reason !== 'PULL');
      return kept.length === 0 ? [] : [{ userId, reasons: kept }];
    });
    if (pushed.length > 0) yield pushed;
  }
}

/** Nobody where the live log does not answer: it holds no delivery up. */
async function someWatched({ liveLog, onLiveLogError }: WatchersDependencies): Promise<readonly UserId[]> {
  const watched = new Set<UserId>();
  try {
    for await (const userIds of liveLog.allWatched()) {
      for (const userId of userIds) watched.add(userId);
      if (watched.size >= MOST) break;
    }
  } catch (error) {
    onLiveLogError(error);
    return [];
  }
  return [...watched].slice(0, MOST);
}
