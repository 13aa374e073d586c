import { dueKey } from '../../notifications/src/store/due.ts';
import type { HostEvent } from '../../../src/domain/host-event.ts';
import type { JobSetup } from '../../../src/jobs/job.ts';
import { MAIL } from './settings.ts';
import { mailboxesRepository, type NotedMail } from './store.ts';

/** Notes whom to mail, before the events are removed from their sources. A read and a write if there is anybody. */
export async function noteMails(
  { core, config }: JobSetup,
  events: readonly HostEvent[],
  now: Date,
): Promise<void> {
  if (config.of(MAIL) === null) return;
  const due = events.flatMap((event) => mailOf(event) ?? []);
  if (due.length === 0) return;
  const known = await core.members.withEmail([...new Set(due.map(({ userId }) => userId))]);
  const noted = due.flatMap((one): NotedMail[] => {
    const email = known.get(one.userId)?.email;
    return email === undefined ? [] : [{ ...one, email }];
  });
  await mailboxesRepository(core.collections).note(noted, now);
}

/** `null`: nobody is to be mailed. */
function mailOf({ id: eventId, type, facts }: HostEvent): Omit<NotedMail, 'email'> | null {
  const { memberId: userId, notifications = [] } = facts;
  if (userId === undefined) return null;
  if (type === 'digest.due') return { userId, eventId, pending: [], isDigest: true };
  if (type !== 'notification.due') return null;
  const pending = notifications
    .filter(({ channels }) => channels.includes('EMAIL'))
    .flatMap(({ key, eventIds }) => eventIds.map((id) => dueKey(key, id)));
  return pending.length === 0 ? null : { userId, eventId, pending, isDigest: false };
}
