import type { Action, ActionId, UserId } from '../domain/action.ts';
import { anySpanContains } from '../domain/follow-span.ts';
import { addressedReasons } from '../domain/visibility.ts';
import type { Follow } from '../domain/viewer.ts';
import { resolveEntries } from './resolve-entries.ts';
import { feedMembershipOf, type FeedMembership, type FeedMembershipDependencies } from './membership.ts';
import type { ActionsRepository } from '../storage/actions.ts';
import {
  announce,
  removals,
  resynchronise,
  type AnnounceDependencies,
  type ResynchroniseDependencies,
} from '../realtime/announce.ts';
import { clock } from '../lib/clock.ts';

export interface AnnounceTakenBackDependencies extends FeedMembershipDependencies {
  readonly actions: Pick<ActionsRepository, 'newestOfRef'>;
  readonly liveLog: AnnounceDependencies['liveLog'] & ResynchroniseDependencies['liveLog'];
  readonly onLiveLogError: AnnounceDependencies['onLiveLogError'];
}

/** Most removals that are announced one by one: as many as a log keeps. With more the watcher resyncs. */
const MOST = 1_000;

/**
 * Tells who watches what left their feed, or is there for fewer reasons, because a follow was taken back with its
 * history: all of it, stored or not. Comes after the follow was changed. Costs one look at who watches; three queries more
 * where the reader does.
 *
 * @param told actions whose change they have been notified of already
 */
export async function announceTakenBack(
  dependencies: AnnounceTakenBackDependencies,
  userId: UserId,
  { follow, told }: { readonly follow: Follow; readonly told: ReadonlySet<ActionId> },
): Promise<void> {
  if (follow.spans.length === 0 || !(await isWatched(dependencies, userId))) return;
  const since = new Date(Math.min(...follow.spans.map((span) => span.since.getTime())));
  const actions = await dependencies.actions.newestOfRef(follow.refId, since, MOST + 1);
  if (actions.length > MOST) {
    await resynchronise(dependencies, [userId]);
    return;
  }
  const membership = await feedMembershipOf(dependencies, userId);
  const changed = actions.filter(
    (action) =>
      !told.has(action.id) && anySpanContains(follow.spans, action) && isChanged(membership, action, follow),
  );
  const place = await resolveEntries(dependencies, changed, [userId]);
  await announce(
    dependencies,
    changed.flatMap((action) => {
      const reasons = addressedReasons(membership.reader, action, membership.follows);
      if (reasons.length === 0) return removals(action.id, [userId], clock.now());
      return [{ userId, event: { kind: 'updated' as const, ...place(userId, action, reasons) } }];
    }),
  );
}

function isChanged({ reader, follows }: FeedMembership, action: Action, follow: Follow): boolean {
  const now = addressedReasons(reader, action, follows);
  const before = addressedReasons(reader, action, [...follows, follow]);
  return before.length !== now.length;
}

async function isWatched(
  { liveLog, onLiveLogError }: AnnounceTakenBackDependencies,
  userId: UserId,
): Promise<boolean> {
  try {
    return (await liveLog.watched([userId])).length > 0;
  } catch (error) {
    // The log tells the reader that something is missing as soon as it can.
    onLiveLogError(error);
    return false;
  }
}
