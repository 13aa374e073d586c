import type { Document, Filter } from 'mongodb';
import type { UserId } from '../../domain/action.ts';
import { userKey } from '../../domain/audience.ts';
import type { ErasureSubject, ErasureTask } from '../../domain/erasure.ts';
import { FORMER_MEMBER } from '../../domain/pseudonym.ts';
import { anonymiseDescriptor, withoutNames } from '../../descriptors/anonymise.ts';
import { groupKeyOf } from '../../descriptors/group-key.ts';
import type { ActionDocument, FormerAudienceDocument } from '../documents/documents.ts';
import { passRequested } from '../stages/fan-out-stages.ts';
import { moderationRepository } from '../actions/moderation.ts';
import type { Collections } from '../database/mongo.ts';
import { holdsName, idOfStamp } from '../directory/name-stamps.ts';
import { clock, CLOCK_DIFFERENCE_MS } from '../../lib/clock.ts';
import { forgetPublications, isKeyed } from '../actions/publications.ts';
import { revised } from '../stages/revision.ts';
import { literal } from '../stages/literal.ts';

/** One way in which an action has to do with somebody: how it is found, by an index of its own, and how it is described. */
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
  // Somebody whose name the descriptor holds.
  {
    filter: (memberId) => holdsName(memberId),
    isIn: ({ names }, memberId) => names?.some((stamp) => idOfStamp(stamp) === memberId) ?? false,
  },
  // Somebody whose id alone the descriptor holds, or the actor of a tombstone.
  {
    filter: (memberId) => ({ otherIds: memberId }),
    isIn: ({ otherIds }, memberId) => otherIds?.includes(memberId) ?? false,
  },
  // Somebody mentioned, or a recipient.
  {
    filter: (memberId) => ({ audience: userKey(memberId) }),
    isIn: ({ audience }, memberId) => audience.includes(userKey(memberId)),
  },
];

/** Tries until an action that is changed all the time is left to a later attempt. */
const MAX_TRIES = 5;

/**
 * Rewrites up to `limit` actions in which the subject is found by a filter, each in one write. One that is changed at
 * the same moment is left for the next call. Returns how many were rewritten: 0 when none is left.
 */
export async function anonymiseActions(
  collections: Pick<Collections, 'actions' | 'moderationLog' | 'publications'>,
  subject: ErasureTask,
  where: Filter<ActionDocument>,
  limit: number,
): Promise<number> {
  const { actions } = collections;
  for (let tries = 1; ; tries++) {
    const found = await actions.find(where).limit(limit).batchSize(limit).toArray();
    if (found.length === 0) return 0;
    // Before the actions, which are how the reasons are found.
    await anonymiseReasons(collections, subject, found);
    // Before the actions, too: with their keys goes what the keys stand for is found by.
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

/** As it was read: a rename, a purge or a delivery may come in between. */
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

/** What of an action changes when the subject goes from it, but for whom it is pulled through. */
export function anonymisedValues(document: ActionDocument, subject: ErasureSubject) {
  const { memberId, pseudonym } = subject;
  const isOwn = document.actorId === memberId;
  const others = (ids: readonly string[]): string[] => ids.filter((id) => id !== memberId);
  const renamed = (ids: readonly string[]): string[] => ids.map((id) => (id === memberId ? pseudonym : id));
  const { names, otherIds, concerned, undecidedRefIds } = document;
  const descriptor = anonymiseDescriptor(document.descriptor, subject, isOwn);
  const groupKey = groupKeyOf({ ...document, descriptor });
  return {
    actorId: isOwn ? pseudonym : document.actorId,
    mentions: others(document.mentions),
    recipients: others(document.recipients),
    audience: document.audience.filter((key) => key !== userKey(memberId)),
    refs: document.refs.map((ref) =>
      ref.id === memberId
        ? { ...ref, id: pseudonym, label: FORMER_MEMBER }
        : { ...ref, label: withoutNames(ref.label, subject) },
    ),
    refIds: renamed(document.refIds),
    descriptor,
    ...(groupKey === null ? {} : { groupKey }),
    ...(concerned === undefined
      ? {}
      : { concerned: concerned.filter(({ key }) => key !== userKey(memberId)) }),
    ...(undecidedRefIds === undefined ? {} : { undecidedRefIds: renamed(undecidedRefIds) }),
    ...(otherIds === undefined ? {} : { otherIds: renamed(otherIds) }),
    // No name is carried to a pseudonym: there is nothing to stamp.
    ...(names === undefined ? {} : { names: names.filter((stamp) => idOfStamp(stamp) !== memberId) }),
  };
}

/** One write: what identifies the subject goes and, where it must, another pass is asked for. */
function changes(document: ActionDocument, subject: ErasureTask): Document[] {
  const { memberId, pseudonym } = subject;
  const isOwn = document.actorId === memberId;
  const others = (ids: readonly string[]): string[] => ids.filter((id) => id !== memberId);
  const renamed = (ids: readonly string[]): string[] => ids.map((id) => (id === memberId ? pseudonym : id));
  const values = anonymisedValues(document, subject);
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
    audience: former.audience.filter((key) => key !== userKey(memberId)),
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
      },
    },
    ...(isOwn ? [{ $unset: 'idempotencyKey' }] : []),
  ];
}

/**
 * Whether a delivery by the old id may be under way, or may have found that the followers are not there any more. A pass
 * over the action as it is then goes by the pseudonym, whose followers are all there.
 */
function mayMissFollowers(document: ActionDocument, { memberId, startedAt }: ErasureTask): boolean {
  const { refIds, isDeleted, recorded, fanOut } = document;
  if (isDeleted || !refIds.includes(memberId) || fanOut.state === 'FAILED') return false;
  return fanOut.state !== 'DONE' || recorded.getTime() >= startedAt.getTime() - CLOCK_DIFFERENCE_MS;
}

/** The log says who hid what and why, which may name whom it was hidden from; the rest of it stays. */
async function anonymiseReasons(
  collections: Pick<Collections, 'actions' | 'moderationLog'>,
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

/** A note of a moderator without names, and without the id where it stands alone. */
export function withoutSubject(reason: string | null, subject: ErasureSubject): string | null {
  if (reason === null) return null;
  const words = reason.split(/(\s+)/u).map((word) => (word === subject.memberId ? subject.pseudonym : word));
  return withoutNames(words.join(''), subject);
}
