import type { Action, UserId } from '../domain/action.ts';
import type { InteractionGroup } from '../domain/relevancy.ts';
import { relevancies } from '../feed/relevancies.ts';
import { surviveLiveLog, type Announcement } from '../feed/announce.ts';
import { audienceAmong, formerlyAmong } from './audience.ts';
import type { Claim } from './store/fan-out-claim.ts';
import type { PassContext } from './pass-context.ts';

const CHUNK = 500;

/**
 * Pulled actions are not written to feeds, so watchers need a notification. Costs one presence list and a query per 500.
 * @throws errors of the database: the pass is repeated, since nobody else notifies them
 */
export async function announcePulled(
  dependencies: PassContext,
  action: Action,
  change: {
    readonly claim: Claim;
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
    surviveLiveLog(error, onLiveLogError);
  }
}

async function announcementsFor(
  dependencies: PassContext,
  action: Action,
  { claim: { version, former }, interactions }: Parameters<typeof announcePulled>[2],
  watched: readonly UserId[],
): Promise<Announcement[]> {
  const audience = await audienceAmong(dependencies, action, watched);
  const concerned = audience.filter(({ reasons }) => reasons.includes('PULL'));
  if (concerned.length === 0) return [];
  const userIds = concerned.map(({ userId }) => userId);
  const relevancyOf = await relevancies(dependencies, action, interactions, userIds);
  const had = await formerlyAmong(dependencies, { action, former }, userIds);
  return concerned.map(({ userId, reasons }) => {
    const isNew = version === 1 || (former.length > 0 && !had.has(userId));
    const kind = isNew ? ('added' as const) : ('updated' as const);
    return { userId, event: { kind, actionId: action.id, relevancy: relevancyOf(userId), reasons } };
  });
}
