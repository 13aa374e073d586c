import type { UserId } from '../../../src/domain/action.ts';
import type { Core } from '../../../src/core/core.ts';
import type { HostEvent } from '../../../src/domain/host-event.ts';
import type { JobSetup } from '../../../src/jobs/job.ts';
import { PUSH } from './settings.ts';
import { contentOf, type NotedPush, pushRegistrationsRepository } from './store.ts';

/** Notes what to send to whom, before the events are removed from their sources. A write if there is anybody. */
export async function notePush(
  { core, config }: JobSetup,
  events: readonly HostEvent[],
  now: Date,
): Promise<void> {
  if (config.of(PUSH) === null) return;
  await pushRegistrationsRepository(core.collections).queue(events.flatMap(pushOf), now);
}

function pushOf({ id, at, type, facts: { memberId: userId, notifications = [] } }: HostEvent): NotedPush[] {
  if (type !== 'notification.due' || userId === undefined) return [];
  const pushed = notifications.filter(({ channels }) => channels.includes('PUSH'));
  return pushed.length === 0 ? [] : [{ userId, message: { id, at, ...contentOf(pushed) } }];
}

/** Messages that wait for the end of a member's quiet hours are decided again. */
export function hurryPush({ collections }: Core, userId: UserId, now: Date): Promise<void> {
  return pushRegistrationsRepository(collections).hurry(userId, now);
}
