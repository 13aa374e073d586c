import { memberData } from './store/member-data.ts';
import type { Core } from '../../../src/core/core.ts';
import type { Action, UserId } from '../../../src/domain/action.ts';
import { userKey } from '../../../src/domain/audience.ts';
import { FanfareError } from '../../../src/domain/errors.ts';
import type { FeedEntry, FeedPosition } from '../../../src/domain/newsfeed-item.ts';
import { idSchema } from '../../../src/descriptors/id-schema.ts';
import { idsOf } from '../../../src/descriptors/ids.ts';
import { entitledActions } from '../../../src/feed/page/entitled.ts';
import type { ReaderSession } from '../../../src/feed/session/reader-session.ts';
import type { ExportPart } from '../../../src/core/shapes.ts';
import { validate } from '../../../src/core/validate.ts';
import { clock } from '../../../src/lib/clock.ts';

/** Maximum size of an export as a query result, in bytes of JSON. */
export const MAX_EXPORT_BYTES = 4 * 1024 * 1024;
const FORMAT = 'fanfare-member-export/1';
const FEED_BATCH = 500;

/**
 * All data about a member, piece by piece, in bounded memory. Not a snapshot: concurrent changes may or may not be included.
 * Admins get everything; members get what others recorded only as far as they may see it.
 * @throws FanfareError FORBIDDEN, BAD_USER_INPUT, before the first piece.
 */
export async function* exportMember(
  core: Core,
  session: ReaderSession,
  memberId: UserId,
): AsyncGenerator<ExportPart, void, undefined> {
  const { identity } = session;
  if (!identity.roles.has('admin') && identity.userId !== memberId)
    throw new FanfareError('FORBIDDEN', 'Only members themselves and admins can export their data');
  const id = validate(idSchema, memberId, ['memberId']);
  const data = memberData(core);
  const facts = { format: FORMAT, memberId: id, exportedAt: clock.now(), ...(await data.profile(id)) };
  for (const [section, value] of Object.entries(facts)) yield { section, value };
  yield* list('actions', actionEntries(data, session, id));
  for (const { section, entries } of data.lists(id)) yield* list(section, entries());
  yield* list('feed', feedEntries(core, id));
  yield* list('events', data.events(id, identity.roles.has('admin')));
}

/** `exportMember` as a single value for the API. @throws FORBIDDEN, BAD_USER_INPUT, CONFLICT when too large. */
export async function memberExport(
  core: Core,
  session: ReaderSession,
  memberId: UserId,
  maxBytes = MAX_EXPORT_BYTES,
): Promise<Readonly<Record<string, unknown>>> {
  const result: Record<string, unknown> = {};
  let bytes = 0;
  for await (const part of exportMember(core, session, memberId)) {
    bytes += Buffer.byteLength(JSON.stringify('value' in part ? part.value : part.entries));
    if (bytes > maxBytes)
      throw new FanfareError(
        'CONFLICT',
        `There is more than ${String(maxBytes / 1_048_576)} MiB about this member: on the server, ` +
          '`fanfare export --member <id> --out <file>` writes it to a file',
      );
    const { section } = part;
    if ('value' in part) result[section] = part.value;
    else result[section] = [...((result[section] as unknown[] | undefined) ?? []), ...part.entries];
  }
  return result;
}

async function* list(
  section: string,
  batches: AsyncIterable<readonly unknown[]>,
): AsyncGenerator<ExportPart, void, undefined> {
  // Yield one piece even for an empty list, to distinguish it from a section that is not exported.
  yield { section, entries: [] };
  for await (const entries of batches) yield { section, entries };
}

async function* actionEntries(
  data: ReturnType<typeof memberData>,
  session: ReaderSession,
  memberId: UserId,
): AsyncGenerator<object[], void, undefined> {
  const isAdmin = session.identity.roles.has('admin');
  for await (const actions of data.actions(memberId)) {
    const own = actions.filter((action) => action.actorId === memberId);
    const others = actions.filter(
      ({ actorId, publishAt }) => actorId !== memberId && publishAt === undefined,
    );
    const shown = isAdmin ? others : await entitledActions(session, others);
    const moderation = await data.moderationOf(own.map((action) => action.id));
    yield [
      ...own.map((action) => ({
        ...ownAction(action, memberId),
        moderation: moderation.get(action.id) ?? [],
      })),
      ...shown.map((action) => sharedFacts(action, memberId)),
    ];
  }
}

function sharedFacts(action: Action, memberId: UserId) {
  const { id, actorId, conducted, recorded, editedAt, scope, refs, descriptor } = action;
  return {
    id,
    as: rolesIn(action, memberId),
    actorId,
    conducted,
    recorded,
    editedAt,
    scope,
    refs,
    descriptor,
  };
}

function ownAction(action: Action, memberId: UserId) {
  const { idempotencyKey, mentions, recipients, engagement, expiresAt, publishAt } = action;
  const isScheduled = publishAt !== undefined;
  return {
    ...sharedFacts(action, memberId),
    idempotencyKey,
    mentions,
    recipients,
    engagement,
    expiresAt,
    publishAt: publishAt ?? null,
    isHidden: action.isHidden,
    isDeleted: action.isDeleted && !isScheduled,
  };
}

function rolesIn(
  { actorId, refs, mentions, recipients, descriptor, formerlyConcerned }: Action,
  memberId: UserId,
): string[] {
  const wasConcerned = formerlyConcerned.some(({ key }) => key === userKey(memberId));
  return [
    ...(actorId === memberId ? ['ACTOR'] : []),
    ...(refs.some((ref) => ref.id === memberId) ? ['REF'] : []),
    ...(mentions.includes(memberId) ? ['MENTION'] : []),
    ...(recipients.includes(memberId) ? ['RECIPIENT'] : []),
    ...(idsOf(descriptor).includes(memberId) ? ['DESCRIPTOR'] : []),
    // Named before an edit, which keeps the position in their feed.
    ...(wasConcerned ? ['FORMERLY_NAMED'] : []),
  ];
}

async function* feedEntries(
  { feedStore }: Core,
  userId: UserId,
): AsyncGenerator<readonly FeedEntry[], void, undefined> {
  let after: FeedPosition | undefined;
  for (;;) {
    const { entries } = await feedStore.page({
      userId,
      limit: FEED_BATCH,
      ...(after === undefined ? {} : { after }),
    });
    yield entries;
    if (entries.length < FEED_BATCH) return;
    after = entries.at(-1);
  }
}
