import type { Core } from '../../core/core.ts';
import type { CountedPage, PageArgs } from '../../core/shapes.ts';
import { validate } from '../../core/validate.ts';
import { idSchema } from '../../descriptors/id-schema.ts';
import type { Action, UserId } from '../../domain/action.ts';
import { decodePosition, encodePosition } from '../../domain/cursor.ts';
import { FanfareError } from '../../domain/errors.ts';
import { idBeside } from '../../domain/stored-id.ts';
import { isTrusted } from '../../domain/viewer.ts';
import { List } from '../../feed/page/list.ts';
import { askedPage } from '../../feed/page/paging.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import type { ScheduledPlace } from './store/scheduled.ts';

/**
 * What is stored and not yet published, the next first: a member's own, and everybody's for admins and services. One round trip.
 * @throws FanfareError FORBIDDEN, BAD_USER_INPUT, BAD_CURSOR
 */
export async function readScheduled(
  { scheduled }: Core,
  { identity }: ReaderSession,
  args: PageArgs & { readonly actorId?: UserId | null | undefined },
): Promise<CountedPage<Action>> {
  const asked = validate(idSchema.nullish(), args.actorId, ['actorId']) ?? null;
  const { userId } = identity;
  if (asked !== null && asked !== userId && !isTrusted(identity))
    throw new FanfareError('FORBIDDEN', 'Only an admin or a service can list what others have scheduled');
  const actorId = isTrusted(identity) ? asked : userId;
  const list = idBeside(userId, `scheduled:${actorId ?? ''}`);
  const all = new List<ScheduledPlace, Scheduled, Scheduled>({
    idOf: ({ id }) => id,
    isAt: (candidate, { publishAt }) => candidate.publishAt.getTime() === publishAt.getTime(),
    async scan(stretch) {
      const found = await scheduled.list({ ...stretch, beside: userId, actorId });
      return found.filter((action): action is Scheduled => action.publishAt !== undefined);
    },
    select: (candidates) => Promise.resolve(candidates),
  });
  return all.page({
    page: askedPage(args, (cursor) => {
      const { time, actionId } = decodePosition(list, cursor);
      return { publishAt: time, id: actionId };
    }),
    cursorOf: ({ publishAt, id }) => encodePosition(list, { time: publishAt, actionId: id }),
  });
}

type Scheduled = Action & { readonly publishAt: Date };
