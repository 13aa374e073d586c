import type { Action, UserId } from '../../domain/action.ts';
import type { InteractionGroup } from '../../domain/relevancy.ts';
import { relevancies, type BoostDependencies } from '../../feeds/boost.ts';
import type { LiveLog } from '../../realtime/live-log.ts';
import type { Announcement } from '../../realtime/announce.ts';
import { audienceAmong, type AudienceAmongDependencies } from './audience.ts';

export interface AnnouncePulledDependencies extends BoostDependencies, AudienceAmongDependencies {
  readonly liveLog: Pick<LiveLog, 'allWatched' | 'append'>;
  readonly onLiveLogError: (error: unknown) => void;
}

/** Readers looked at in one go. */
const CHUNK = 500;

/**
 * Tells those followers of pulled refs who are watching: nothing was written for them that would tell them. Costs a look
 * through all who watch, and a query per 500 of them.
 */
export async function announcePulled(
  dependencies: AnnouncePulledDependencies,
  action: Action,
  change: {
    readonly kind: 'added' | 'updated';
    readonly interactions: readonly InteractionGroup[];
  },
): Promise<void> {
  if (action.pullRefIds.length === 0) return;
  const { liveLog, onLiveLogError } = dependencies;
  try {
    for await (const watched of liveLog.allWatched())
      for (let from = 0; from < watched.length; from += CHUNK) {
        const some = watched.slice(from, from + CHUNK);
        const announcements = await announcementsFor(dependencies, action, change, some);
        if (announcements.length > 0) await liveLog.append(announcements);
      }
  } catch (error) {
    onLiveLogError(error);
  }
}

async function announcementsFor(
  dependencies: AnnouncePulledDependencies,
  action: Action,
  { kind, interactions }: Parameters<typeof announcePulled>[2],
  watched: readonly UserId[],
): Promise<Announcement[]> {
  const audience = await audienceAmong(dependencies, action, watched);
  const concerned = audience.filter(({ reasons }) => reasons.includes('PULL'));
  if (concerned.length === 0) return [];
  const userIds = concerned.map(({ userId }) => userId);
  const relevancyOf = await relevancies(dependencies, action, interactions, userIds);
  return concerned.map(({ userId, reasons }) => ({
    userId,
    event: { kind, actionId: action.id, relevancy: relevancyOf(userId), reasons },
  }));
}
