import { upTo } from '../../../storage/database/batches.ts';
import type { Document, Filter } from 'mongodb';
import type { UserId } from '../../../domain/action.ts';
import { notifiedKey, userKey } from '../../../domain/audience.ts';
import { type ErasureSubject, type ErasureTask, FORMER_MEMBER } from '../../../domain/erasure.ts';
import { anonymiseDescriptor, withoutNames, withoutSubject } from '../../../descriptors/anonymise.ts';
import type { ActionDocument, FormerAudienceDocument } from '../../../storage/documents/documents.ts';
import { passRequested } from '../../../storage/stages/fan-out-stages.ts';
import { moderationRepository } from '../../moderation/store/moderation.ts';
import type { Collections } from '../../../storage/database/mongo.ts';
import { holdsName, idOfStamp } from '../../../storage/stamps/directory-stamps.ts';
import { clock, CLOCK_DIFFERENCE_MS } from '../../../lib/clock.ts';
import { forgetPublications, isKeyed } from '../../publish/store/publishing.ts';
import { revised, literal } from '../../../storage/stages/revision.ts';

/** One way in which an action is related to a member: how to find it by an index, and its description. */
export interface ActionTrace {
  readonly filter: (memberId: UserId) => Filter<ActionDocument>;
  readonly isIn: (document: ActionDocument, memberId: UserId) => boolean;
}

export const ACTION_TRACES: readonly ActionTrace[] = [
  // The actor, or a ref.
  {
    filter: (memberId) => ({ refIds: memberId }),
    isIn: ({ refIds }, memberId) => refIds.includes(memberId),
  },
  // A member whose name the descriptor copies.
  {
    filter: (memberId) => holdsName(memberId),
    isIn: ({ names }, memberId) => names?.some((stamp) => idOfStamp(stamp) === memberId) ?? false,
  },
  // A member of whom the descriptor has only the id, or the actor of a tombstone.
  {
    filter: (memberId) => ({ otherIds: memberId }),
    isIn: ({ otherIds }, memberId) => otherIds?.includes(memberId) ?? false,
  },
  // A mentioned member, or a recipient.
  {
    filter: (memberId) => ({ audience: userKey(memberId) }),
    isIn: ({ audience }, memberId) => audience.includes(userKey(memberId)),
  },
];

/** Attempts before leaving an action that keeps changing to a later call. */
const MAX_TRIES = 5;

/**
 * Rewrites up to `limit` actions that match a filter for the subject, one write each. An action that changes concurrently is
 * left for the next call. Returns the number rewritten: 0 when none is left.
 */
export async function anonymiseActions(
  collections: Collections,
  subject: ErasureTask,
  where: Filter<ActionDocument>,
  limit: number,
): Promise<number> {
  const { actions } = collections;
  for (let tries = 1; ; tries++) {
    const found = await actions.find(where, upTo(limit)).toArray();
    if (found.length === 0) return 0;
    // Before the actions, which are needed to find the reasons.
    await anonymiseReasons(collections, subject, found);
    // Also before the actions: without their keys the records could not be found.
    await forgetPublications(
      collections.publications,
      found.filter(({ actorId }) => actorId === subject.memberId).filter(isKeyed),
    );
    const { modifiedCount } = await actions.bulkWrite(
      found.map((document) => ({
        updateOne: {
          filter: unchanged(document),
          update: revised(changes(document, subject)),
        },
      })),
      { ordered: false },
    );
    if (modifiedCount > 0) return modifiedCount;
    if (tries === MAX_TRIES) throw new Error('None of the actions found could be rewritten');
  }
}

/** Matches the document as it was read: a rename, a purge or a delivery may come in between. */
function unchanged(document: ActionDocument): Filter<ActionDocument> {
  const { _id, actorId, refs, descriptor, names, fanOut } = document;
  return {
    _id,
    actorId,
    refs,
    descriptor,
    names: names ?? { $exists: false },
    'fanOut.version': fanOut.version,
    'fanOut.state': fanOut.state,
  };
}

function withoutKeys(audience: readonly string[], memberId: UserId): string[] {
  return audience.filter((key) => key !== userKey(memberId) && key !== notifiedKey(memberId));
}

/** Changed fields of an action from which the subject is removed, except for `pullRefIds`. */
function anonymisedValues(document: ActionDocument, subject: ErasureSubject) {
  const { memberId, pseudonym } = subject;
  const isOwn = document.actorId === memberId;
  const others = (ids: readonly string[]): string[] => ids.filter((id) => id !== memberId);
  const renamed = (ids: readonly string[]): string[] => ids.map((id) => (id === memberId ? pseudonym : id));
  const { names, otherIds, concerned, formerlyConcerned, undecidedRefIds } = document;
  const isAnother = ({ key }: { readonly key: string }): boolean => key !== userKey(memberId);
  const descriptor = anonymiseDescriptor(document.descriptor, subject, isOwn);
  return {
    actorId: isOwn ? pseudonym : document.actorId,
    mentions: others(document.mentions),
    recipients: others(document.recipients),
    audience: withoutKeys(document.audience, memberId),
    refs: document.refs.map((ref) =>
      ref.id === memberId
        ? { ...ref, id: pseudonym, label: FORMER_MEMBER }
        : { ...ref, label: withoutNames(ref.label, subject) },
    ),
    refIds: renamed(document.refIds),
    descriptor,
    ...(concerned === undefined ? {} : { concerned: concerned.filter(isAnother) }),
    ...(formerlyConcerned === undefined ? {} : { formerlyConcerned: formerlyConcerned.filter(isAnother) }),
    ...(undecidedRefIds === undefined ? {} : { undecidedRefIds: renamed(undecidedRefIds) }),
    ...(otherIds === undefined ? {} : { otherIds: renamed(otherIds) }),
    // Pseudonyms are not renamed, so they need no stamp.
    ...(names === undefined ? {} : { names: names.filter((stamp) => idOfStamp(stamp) !== memberId) }),
  };
}

/** The action of a file as an erasure since then would have left it. */
export function erasedAction(document: ActionDocument, subject: ErasureSubject): ActionDocument {
  const { memberId, pseudonym } = subject;
  const { reshares, pullRefIds } = document;
  const isInReshares = reshares?.some(({ by }) => by === memberId) ?? false;
  if (!isInReshares && !ACTION_TRACES.some(({ isIn }) => isIn(document, memberId))) return document;
  const { idempotencyKey, ...rest } = document;
  return {
    ...rest,
    ...anonymisedValues(document, subject),
    ...(idempotencyKey === undefined || document.actorId === memberId ? {} : { idempotencyKey }),
    ...(pullRefIds === undefined
      ? {}
      : { pullRefIds: pullRefIds.map((refId) => (refId === memberId ? pseudonym : refId)) }),
    ...(reshares === undefined
      ? {}
      : { reshares: reshares.map(({ by, at }) => ({ by: by === memberId ? pseudonym : by, at })) }),
  };
}

/** One write: removes everything identifying the subject and requests another pass where necessary. */
function changes(document: ActionDocument, subject: ErasureTask): Document[] {
  const { memberId, pseudonym } = subject;
  const isOwn = document.actorId === memberId;
  const others = (ids: readonly string[]): string[] => ids.filter((id) => id !== memberId);
  const renamed = (ids: readonly string[]): string[] => ids.map((id) => (id === memberId ? pseudonym : id));
  const values = anonymisedValues(document, subject);
  // Nobody publishes for somebody who is gone: it stays deleted, and its pass leaves a tombstone.
  const isCancelled = isOwn && document.publishAt !== undefined;
  const pulled = {
    $map: {
      input: '$pullRefIds',
      as: 'refId',
      in: { $cond: [{ $eq: ['$$refId', literal(memberId)] }, pseudonym, '$$refId'] },
    },
  };
  const withoutMember = (former: FormerAudienceDocument): FormerAudienceDocument => ({
    ...former,
    mentions: others(former.mentions),
    recipients: others(former.recipients),
    audience: withoutKeys(former.audience, memberId),
    refIds: renamed(former.refIds),
    pullRefIds: renamed(former.pullRefIds),
  });
  return [
    {
      $set: {
        ...Object.fromEntries(Object.entries(values).map(([field, value]) => [field, literal(value)])),
        ...(document.pullRefIds === undefined ? {} : { pullRefIds: pulled }),
        ...(document.fanOut.former === undefined
          ? {}
          : { 'fanOut.former': literal(document.fanOut.former.map(withoutMember)) }),
        ...(document.fanOut.toldAudience === undefined
          ? {}
          : { 'fanOut.toldAudience': literal(withoutMember(document.fanOut.toldAudience)) }),
        ...(mayMissFollowers(document, subject)
          ? passRequested({ notBefore: clock.now(), lane: 'LIVE' })
          : {}),
        ...(isCancelled ? passRequested({ notBefore: clock.now(), lane: 'URGENT' }) : {}),
      },
    },
    ...(isOwn ? [{ $unset: 'idempotencyKey' }] : []),
    ...(isCancelled ? [{ $unset: 'publishAt' }] : []),
  ];
}

/**
 * Whether a delivery under the old id may be running, or may have missed followers that were already moved. A pass over the
 * rewritten action uses the pseudonym, which has all the followers.
 */
function mayMissFollowers(document: ActionDocument, { memberId, startedAt }: ErasureTask): boolean {
  const { refIds, isDeleted, recorded, fanOut } = document;
  if (isDeleted || !refIds.includes(memberId) || fanOut.state === 'FAILED') return false;
  return fanOut.state !== 'DONE' || recorded.getTime() >= startedAt.getTime() - CLOCK_DIFFERENCE_MS;
}

/** The log records who hid what and why. Reasons may name the subject; the rest stays. */
async function anonymiseReasons(
  collections: Collections,
  subject: ErasureSubject,
  documents: readonly ActionDocument[],
): Promise<void> {
  const unlogged = documents.filter((document) => (document.unlogged ?? []).length > 0);
  for (const { _id } of unlogged) await moderationRepository(collections).log(_id.toHexString());
  const { moderationLog } = collections;
  const records = await moderationLog
    .find({ actionId: { $in: documents.map(({ _id }) => _id) }, reason: { $ne: null } })
    .toArray();
  const writes = records.flatMap(({ _id, reason }) => {
    const next = withoutSubject(reason, subject);
    return next === reason ? [] : [{ updateOne: { filter: { _id }, update: { $set: { reason: next } } } }];
  });
  if (writes.length > 0) await moderationLog.bulkWrite(writes, { ordered: false });
}
