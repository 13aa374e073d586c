import { hostEventsRepository } from './store/host-events.ts';
import type { Core } from '../../../src/core/core.ts';
import { decodePlace, encodePlace } from '../../../src/domain/cursor.ts';
import { badInput, FanfareError } from '../../../src/domain/errors.ts';
import { HOST_EVENT_TYPES, type HostEventType, type HostEventView } from '../../../src/domain/host-event.ts';
import { idBeside, fieldBeside } from '../../../src/domain/stored-id.ts';
import type { Identity } from '../../../src/domain/viewer.ts';
import { viewHostEvents } from '../../../src/features/erasure/store/erasures.ts';
import { askedPage, pageOf } from '../../../src/feed/page/paging.ts';
import { requireOneOf } from '../../../src/core/validate.ts';
import type { HostEventsArgs, Page } from '../../../src/core/shapes.ts';
import { shortened } from '../../../src/lib/cut.ts';

const LIST = 'hostEvents';
export const EVENTS = { standard: 100, most: 1_000 } as const;

/**
 * Host events in order. A caller that continues from each page's end cursor gets every event exactly once, even while
 * several processes write. The last page's end cursor covers everything that was examined.
 * @throws FanfareError FORBIDDEN, BAD_USER_INPUT, BAD_CURSOR, the last also when events after the cursor have expired
 */
export async function readHostEvents(
  { collections, erasures }: Core,
  identity: Identity,
  args: HostEventsArgs,
): Promise<Page<HostEventView>> {
  requireOneOf(identity, ['admin', 'service']);
  const hostEvents = hostEventsRepository(collections);
  const types = typesOf(args.types);
  const list = idBeside(identity.userId, LIST);
  const { size, isUp, from } = askedPage(args, (cursor) => decodePlace(list, cursor).at, EVENTS);
  const { deletedUpTo, last } = await hostEvents.range();
  if (from !== null && from < deletedUpTo)
    throw new FanfareError('BAD_CURSOR', 'Events after this cursor have been deleted');
  const range = isUp
    ? { after: 0, upTo: Math.min(last, (from ?? Infinity) - 1) }
    : { after: from ?? 0, upTo: last };
  const { events, isCut } = await hostEvents.page({
    ...{ ...fieldBeside(identity.userId), ...range, types, isUp, limit: size + 1 },
  });
  const shown = events.slice(0, size);
  const hasMore = isCut || events.length > size;
  const views = await viewHostEvents(erasures, shown);
  const edges = shown.flatMap(({ seq }, index) => {
    const node = views[index];
    return node === undefined ? [] : [{ cursor: encodePlace(list, seq), node }];
  });
  const page = pageOf(edges, { isUp, hasMore });
  return isUp || hasMore ? page : { ...page, end: encodePlace(list, Math.max(last, range.after)) };
}

function typesOf(types: readonly string[] | null | undefined): HostEventType[] | null {
  if (types == null) return null;
  const known = HOST_EVENT_TYPES.filter((type) => types.includes(type));
  const unknown = types.findIndex((type) => !known.some((one) => one === type));
  if (unknown >= 0 || types.length === 0 || types.length > HOST_EVENT_TYPES.length)
    throw badInput(
      `Must be 1 to ${String(HOST_EVENT_TYPES.length)} of ${HOST_EVENT_TYPES.join(', ')}` +
        (unknown < 0 ? `, got ${String(types.length)}` : `, got "${shortened(types[unknown] ?? '', 64)}"`),
      ['types', ...(unknown < 0 ? [] : [unknown])],
    );
  return known;
}
