import { type Collection, type Document, type Filter, ObjectId } from 'mongodb';
import { withoutSubject } from '../../../../src/descriptors/anonymise.ts';
import type { RefId, UserId } from '../../../../src/domain/action.ts';
import { type ErasureSubject, type ErasureTask, FORMER_MEMBER } from '../../../../src/domain/erasure.ts';
import type { HostEventFacts } from '../../../../src/domain/host-event.ts';
import type { MuteKind } from '../../../../src/domain/mute.ts';
import { clock } from '../../../../src/lib/clock.ts';
import { ACTION_TRACES, anonymiseActions } from '../../../../src/features/erasure/store/anonymise-actions.ts';
import { moderationRepository } from '../../../../src/features/moderation/store/moderation.ts';
import { retryOnDuplicateKey } from '../../../../src/storage/database/errors.ts';
import { idsOf, upTo } from '../../../../src/storage/database/batches.ts';
import type { Collections } from '../../../../src/storage/database/mongo.ts';
import { HAS_DETAILS, NO_DETAILS } from '../../../../src/features/directory/store/details.ts';
import { hasWordsOf, NOT_SEARCHABLE } from '../../../../src/features/directory/store/name-search.ts';
import {
  directoryStampsRepository,
  type DirectoryStampsRepository,
} from '../../../../src/storage/stamps/directory-stamps.ts';
import { batches, type Declares } from './member-data.ts';
import type { Interaction } from '../../../../src/domain/interaction.ts';
import type { HostEventDocument, OutboxDocument } from '../../../../src/storage/documents/event-documents.ts';
import { fieldOf } from '../../../../src/storage/documents/ids.ts';
import type { FollowDocument } from '../../../../src/storage/documents/reader-documents.ts';
import { interactionRecords } from '../../../../src/features/interactions/store/interaction-records.ts';
import { passRequested, OPEN_FAN_OUT } from '../../../../src/storage/stages/fan-out-stages.ts';
import { literal, revised, unrevised } from '../../../../src/storage/stages/revision.ts';

/**
 * All of a member's traces outside of feeds. Each method processes one bounded batch and returns the number found: repeat
 * until it is 0. Safe to interrupt anywhere and to repeat.
 */
export function memberTraces({ collections, declarations }: Declares) {
  const directoryStamps = directoryStampsRepository(collections.directoryStamps);
  return {
    ...ownDocuments({ collections, declarations }),
    ...profileTraces(collections, directoryStamps),
    ...followTraces(collections),
    ...actionTraces(collections),
    ...interactionTraces(collections),
    ...readerTraces(collections),
    ...eventTraces(collections),
  };
}

export type MemberTraces = ReturnType<typeof memberTraces>;

/** Documents that are of nobody but the member. */
function ownDocuments({ collections: { members }, declarations }: Declares) {
  const { db } = members;
  const own = declarations.flatMap(({ name, ids, erase }) => {
    const [path] = ids.member ?? [];
    return erase === 'delete' && path !== undefined ? [[name, fieldOf(path)] as const] : [];
  });
  return {
    async removeOwn({ memberId }: ErasureSubject, limit: number): Promise<number> {
      for (const [name, field] of own) {
        const found = await idsOf(db.collection(name).find({ [field]: memberId }, upTo(limit)));
        if (found.length === 0) continue;
        await db.collection(name).deleteMany({ _id: { $in: found } });
        return found.length;
      }
      return 0;
    },
  };
}

/** A member's names and groups. */
function profileTraces({ feeds, members, refs }: Collections, directoryStamps: DirectoryStampsRepository) {
  return {
    /**
     * Removes name, details, groups and supervisor of the member, and label and details of the member as a ref. Names are
     * read from there, so nobody is shown them from now on, wherever they were copied to.
     */
    async conceal({ memberId, names }: ErasureSubject): Promise<number> {
      // Refs that only actions name are found by words, which may be those of the name.
      for (const name of names)
        await refs.updateMany(
          { label: { $exists: false }, ...hasWordsOf(memberId, name) },
          { $unset: NOT_SEARCHABLE },
        );
      const results = await directoryStamps.stamping([memberId], () =>
        Promise.all([
          members.updateOne(
            {
              _id: memberId,
              $or: [{ name: { $ne: FORMER_MEMBER } }, { contact: { $exists: true } }, ...HAS_DETAILS],
            },
            {
              $set: {
                name: FORMER_MEMBER,
                teamId: null,
                teamSince: null,
                departmentId: null,
                departmentSince: null,
                supervisorId: null,
              },
              $unset: { ...NO_DETAILS, ...NOT_SEARCHABLE, contact: 1 },
            },
          ),
          refs.updateOne(
            {
              _id: memberId,
              label: { $exists: true },
              $or: [{ label: { $ne: FORMER_MEMBER } }, ...HAS_DETAILS],
            },
            { $set: { label: FORMER_MEMBER }, $unset: { ...NO_DETAILS, ...NOT_SEARCHABLE } },
          ),
        ]),
      );
      return results.reduce((sum, { modifiedCount }) => sum + modifiedCount, 0);
    },

    /** Replaces the member as supervisor; boosts that resulted from it stay. Index `supervisor`. */
    async anonymiseSupervisor({ memberId, pseudonym }: ErasureSubject, limit: number): Promise<number> {
      const found = await idsOf(members.find({ supervisorId: memberId }).limit(limit));
      await directoryStamps.stamping(found, () =>
        members.updateMany(
          { _id: { $in: found }, supervisorId: memberId },
          { $set: { supervisorId: pseudonym } },
        ),
      );
      return found.length;
    },

    /** Deletes the member's profile, ref and feed settings, as the last step. */
    async removeProfile({ memberId }: ErasureSubject): Promise<number> {
      const results = await directoryStamps.stamping([memberId], () =>
        Promise.all([
          members.deleteOne({ _id: memberId }),
          refs.deleteOne({ _id: memberId }),
          feeds.deleteOne({ _id: memberId }),
        ]),
      );
      return results.reduce((sum, { deletedCount }) => sum + deletedCount, 0);
    },
  };
}

function readerTraces({ feeds }: Collections) {
  return {
    /**
     * Readers who mute the member then mute the pseudonym, otherwise muted actions would appear in their feeds. Phrases are
     * the readers' own words. Index `mutes`.
     */
    async anonymiseMutes({ memberId, pseudonym }: ErasureSubject, limit: number): Promise<number> {
      const named = { value: memberId, kind: { $in: ['MEMBER', 'REF'] as MuteKind[] } };
      const found = await idsOf(feeds.find({ mutes: { $elemMatch: named } }).limit(limit));
      if (found.length > 0)
        await feeds.updateMany(
          { _id: { $in: found }, mutes: { $elemMatch: named } },
          { $set: { 'mutes.$[one].value': pseudonym } },
          { arrayFilters: [{ 'one.value': memberId, 'one.kind': named.kind }] },
        );
      return found.length;
    },
  };
}

/** Result of ending a batch of follows: refs to decrement by one, and refs to recount. */
export interface EndedFollows {
  readonly ids: readonly ObjectId[];
  readonly counted: readonly RefId[];
  readonly uncertain: readonly { readonly id: ObjectId; readonly refId: RefId }[];
}

const NOT_OPEN = { openedAt: 1, assignedAt: 1 } as const;

function followTraces({ follows }: Collections) {
  return {
    /** A batch of the member's own follows. Index `pair`. */
    async followsOf({ memberId }: ErasureSubject, limit: number): Promise<FollowDocument[]> {
      return follows.find({ followerId: memberId }, upTo(limit)).hint('pair').toArray();
    },

    /**
     * Ends a batch of the member's own follows. Counted ones are marked with the token; for one that already has a mark it
     * is unknown whether it was counted. Call `dropFollows` once the counts are right.
     */
    async endFollows(
      { memberId }: ErasureSubject,
      found: readonly FollowDocument[],
      token: string,
    ): Promise<EndedFollows> {
      const isSure = ({ active, settling }: (typeof found)[number]): boolean =>
        active && settling === undefined;
      const sure = found.filter(isSure).map(({ _id }) => _id);
      const rest = found.filter((follow) => !isSure(follow));
      const settling = new ObjectId(token);
      if (rest.length > 0)
        await follows.updateMany(
          { _id: { $in: rest.map(({ _id }) => _id) } },
          { $set: { active: false, spans: [] }, $unset: NOT_OPEN },
        );
      if (sure.length > 0)
        await follows.updateMany(
          { _id: { $in: sure }, active: true, settling: { $exists: false } },
          { $set: { active: false, spans: [], settling }, $unset: NOT_OPEN },
        );
      const ours = sure.length === 0 ? [] : await follows.find({ _id: { $in: sure }, settling }).toArray();
      const isUncertain = ({ refId, settling: mark }: FollowDocument): boolean =>
        mark !== undefined && refId !== memberId;
      return {
        ids: [...ours, ...rest.filter((follow) => !isUncertain(follow))].map(({ _id }) => _id),
        counted: ours.map(({ refId }) => refId).filter((refId) => refId !== memberId),
        uncertain: rest.filter(isUncertain).map(({ _id, refId }) => ({ id: _id, refId })),
      };
    },

    /** Follows that were opened again meanwhile are left for the next batch. */
    async dropFollows(ids: EndedFollows['ids']): Promise<void> {
      await follows.deleteMany({ _id: { $in: [...ids] }, active: false });
    },

    /**
     * Copies a batch of follows of the member, including open spans, to the pseudonym; the originals stay. Unique key:
     * followerId, refId. Index `by_ref`.
     */
    async copyFollowers({ memberId, pseudonym }: ErasureSubject, limit: number): Promise<number> {
      const found = await follows
        .find({ refId: memberId, isCopied: { $exists: false } }, upTo(limit))
        .toArray();
      if (found.length === 0) return 0;
      const copies = found.filter(isKept(memberId)).map(({ followerId, spans }) => ({
        updateOne: {
          filter: { refId: pseudonym, followerId },
          update: { $setOnInsert: { active: false, spans, isCopied: true as const } },
          upsert: true,
        },
      }));
      if (copies.length > 0) await retryOnDuplicateKey(() => follows.bulkWrite(copies, { ordered: false }));
      await follows.updateMany(
        { _id: { $in: found.map(({ _id }) => _id) } },
        { $set: { isCopied: true as const } },
      );
      return found.length;
    },

    /**
     * Ends a batch of follows of the member, and their copies: the followers follow nobody by them any more, and keep what
     * they received. If a follower took back their follow meanwhile, the copy is deleted as well. Unique key: followerId,
     * refId. Index `by_ref`.
     * @param makeDue called before and after with the readers who followed the member as assigned: items boosted by that
     * move down.
     */
    async moveFollowers(
      { memberId, pseudonym }: ErasureSubject,
      now: Date,
      {
        limit,
        makeDue,
      }: {
        readonly limit: number;
        readonly makeDue: (userIds: readonly UserId[], when: 'before' | 'after') => Promise<void>;
      },
    ): Promise<number> {
      const found = await follows.find({ refId: memberId }, upTo(limit)).toArray();
      if (found.length === 0) {
        const { deletedCount } = await follows.deleteMany({ refId: pseudonym, isCopied: true });
        return deletedCount;
      }
      const writes = found.filter(isKept(memberId)).map(({ followerId, spans }) => ({
        updateOne: {
          filter: { refId: pseudonym, followerId },
          update: endedCopy(spans.map((span) => ({ ...span, until: span.until ?? now }))),
          upsert: true,
        },
      }));
      const assigned = found.filter(isAssigned).map(({ followerId }) => followerId);
      await makeDue(assigned, 'before');
      if (writes.length > 0) await retryOnDuplicateKey(() => follows.bulkWrite(writes, { ordered: false }));
      await follows.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } });
      await makeDue(assigned, 'after');
      return found.length;
    },
  };
}

function isKept(memberId: UserId): (follow: FollowDocument) => boolean {
  return ({ spans, followerId }) => spans.length > 0 && followerId !== memberId;
}

function isAssigned({ active, isAssigned: is }: FollowDocument): boolean {
  return active && is === true;
}

/** The copy with these spans, all of them ended, in addition to spans from an earlier follow. */
function endedCopy(spans: FollowDocument['spans']): Document[] {
  const own = { $cond: [{ $eq: ['$isCopied', true] }, [], { $ifNull: ['$spans', []] }] };
  return [{ $set: { active: false, spans: { $setUnion: [own, literal(spans)] } } }, { $unset: 'isCopied' }];
}

const ERROR_REMOVED = 'The error named a member who was erased';

/** Actions related to a member, and their fan-outs. */
function actionTraces(collections: Collections) {
  const { actions } = collections;

  return {
    /** Actions related to the member in any way. Indexes `slice`, `names`, `other_ids`, `audience`. */
    async anonymiseActions(subject: ErasureTask, limit: number): Promise<number> {
      for (const { filter } of ACTION_TRACES) {
        const changed = await anonymiseActions(collections, subject, filter(subject.memberId), limit);
        if (changed > 0) return changed;
      }
      // A delivery that read the action before may have written the old id to `pullRefIds`.
      const pulled = { refIds: subject.pseudonym, pullRefIds: subject.memberId };
      return anonymiseActions(collections, subject, pulled, limit);
    },

    /**
     * Replaces a resharing member by the pseudonym, which has the same followers. A delivery in progress under the old id is
     * followed by another pass. Index `reshared`.
     */
    async anonymiseReshares({ memberId, pseudonym }: ErasureSubject, limit: number): Promise<number> {
      const found = await idsOf(
        actions.find({ 'reshares.by': memberId, reshares: { $exists: true } }, upTo(limit)),
      );
      const ids = { _id: { $in: found } };
      const renamed = {
        $cond: [{ $eq: ['$$reshare.by', literal(memberId)] }, pseudonym, '$$reshare.by'],
      };
      const reshares = {
        $map: {
          input: '$reshares',
          as: 'reshare',
          in: { $mergeObjects: ['$$reshare', { by: renamed }] },
        },
      };
      const asked = passRequested({ notBefore: clock.now(), lane: 'LIVE' });
      if (found.length > 0) {
        await actions.updateMany(
          { ...ids, ...OPEN_FAN_OUT, 'reshares.by': memberId },
          revised([{ $set: { reshares, ...asked } }]),
        );
        await actions.updateMany({ ...ids, 'reshares.by': memberId }, revised([{ $set: { reshares } }]));
      }
      return found.length;
    },

    /** Checkpoints and errors of fan-outs may name a reader. Index `claim_by_lane`: unfinished ones. */
    async cleanFanOuts({ memberId }: ErasureSubject): Promise<number> {
      const literally = memberId.replace(/[.*+?^${}()|[\]\\/]/gu, '\\$&');
      const [checkpoints, former, notified, errors] = await Promise.all([
        // Without its checkpoint a pass starts over, and delivers nothing twice.
        actions.updateMany(
          { ...OPEN_FAN_OUT, 'fanOut.checkpoint.afterUserId': memberId },
          unrevised({ $unset: { 'fanOut.checkpoint': 1 } }),
        ),
        actions.updateMany(
          { ...OPEN_FAN_OUT, 'fanOut.former.reshares.by': memberId },
          unrevised({ $pull: { 'fanOut.former.$[].reshares': { by: memberId } } }),
        ),
        actions.updateMany(
          { ...OPEN_FAN_OUT, 'fanOut.toldAudience.reshares.by': memberId },
          unrevised({ $pull: { 'fanOut.toldAudience.reshares': { by: memberId } } }),
        ),
        actions.updateMany(
          { ...OPEN_FAN_OUT, 'fanOut.error': { $regex: literally } },
          unrevised({ $set: { 'fanOut.error': ERROR_REMOVED } }),
        ),
      ]);
      return checkpoints.modifiedCount + former.modifiedCount + notified.modifiedCount + errors.modifiedCount;
    },
  };
}

/** A member's interactions and moderation. */
function interactionTraces(collections: Collections) {
  const { actions, interactions, moderationLog } = collections;
  const moderation = moderationRepository(collections);
  const interactionsOf = interactionRecords(collections);

  return {
    /**
     * Counts and boosts stay, since they depend on the interaction and not on the id. Texts and data are removed. What others
     * did concerns the member no longer. Indexes `actor`, `to`, `owned`.
     */
    async anonymiseInteractions({ memberId, pseudonym }: ErasureSubject, limit: number): Promise<number> {
      const found = await idsOf(interactions.find({ actorId: memberId }, upTo(limit)));
      if (found.length > 0)
        await interactions.bulkWrite(
          found.map((_id) => ({
            updateOne: {
              filter: { _id, actorId: memberId },
              // The key contains the actor, and only has to be unique within the action.
              update: {
                $set: { actorId: pseudonym, key: _id.toHexString() },
                $unset: { text: 1, data: 1, replayKeys: 1 },
              },
            },
          })),
          { ordered: false },
        );
      const concerning = await idsOf(
        interactions.find({ to: { $eq: memberId, $exists: true } }, upTo(limit)),
      );
      if (concerning.length > 0) {
        const among = { _id: { $in: concerning } };
        await interactions.updateMany({ ...among, replyTo: memberId }, { $unset: { replyTo: 1 } });
        await interactions.updateMany(among, { $pull: { to: memberId, mentions: memberId } });
      }
      const owned = await idsOf(
        interactions
          .find({ ownerId: { $eq: memberId, $exists: true } })
          .limit(limit)
          .batchSize(limit),
      );
      if (owned.length > 0)
        await interactions.updateMany({ _id: { $in: owned } }, { $unset: { ownerId: 1 } });
      return found.length + concerning.length + owned.length;
    },

    /** What is left of the member's interactions. Index `actor`. */
    async *leftInteractions({
      pseudonym,
    }: ErasureSubject): AsyncGenerator<readonly Pick<Interaction, 'id' | 'actionId'>[], void, undefined> {
      const cursor = interactions
        .find({ actorId: pseudonym })
        .project<{ _id: ObjectId; actionId: ObjectId }>({ actionId: 1 });
      for await (const some of batches(cursor))
        yield some.map(({ _id, actionId }) => ({
          id: _id.toHexString(),
          actionId: actionId.toHexString(),
        }));
    },

    /** The member's moderation: what was done, when and why stays on record. Indexes `claim`, `unsettled`, `by`. */
    async anonymiseModeration(subject: ErasureSubject, limit: number): Promise<number> {
      const unlogged = await idsOf(
        actions.find({ ...OPEN_FAN_OUT, 'unlogged.by': subject.memberId }).limit(limit),
      );
      for (const id of unlogged) await moderation.log(id.toHexString());
      const unsettled = await interactions
        .find({ settling: { $exists: true }, 'unlogged.by': subject.memberId })
        .project<{ _id: ObjectId; actionId: ObjectId }>({ actionId: 1 })
        .limit(limit)
        .toArray();
      for (const { _id, actionId } of unsettled)
        await interactionsOf.logModeration({ id: _id.toHexString(), actionId: actionId.toHexString() });
      const found = await moderationLog.find({ by: subject.memberId }).limit(limit).toArray();
      if (found.length > 0)
        await moderationLog.bulkWrite(
          found.map(({ _id, reason }) => ({
            updateOne: {
              filter: { _id },
              update: { $set: { by: subject.pseudonym, reason: withoutSubject(reason, subject) } },
            },
          })),
          { ordered: false },
        );
      return unlogged.length + unsettled.length + found.length;
    },
  };
}

const NAMING = ['actorId', 'followerId', 'refId', 'memberId'] as const;

type WithFacts = Pick<HostEventDocument, '_id' | 'facts' | 'memberIds'>;

function eventTraces({ eventOutbox, hostEvents }: Collections) {
  return {
    /**
     * Replaces actors and followed members by the pseudonym, and removes readers from deliveries. Index `members`.
     * Deliveries name thousands of readers each, so all stored ones are read by `type`, and all unmoved events by `unsent`.
     */
    async anonymiseEvents(subject: ErasureSubject, limit: number): Promise<number> {
      const { memberId } = subject;
      const named = await renamed(hostEvents, { memberIds: memberId }, subject, { index: 'members', limit });
      const waiting = await renamed(
        eventOutbox,
        {
          $or: NAMING.map((field) => ({
            [`facts.${field}`]: memberId,
          })),
        },
        subject,
        { index: 'unsent', limit },
      );
      const pull = { $pull: { 'facts.readers': { memberId } } };
      const delivered = await hostEvents.updateMany(
        { type: 'item.delivered', 'facts.readers.memberId': memberId },
        pull,
      );
      const undelivered = await idsOf(
        eventOutbox.find({ 'facts.readers.memberId': memberId }, upTo(limit)).hint('unsent'),
      );
      if (undelivered.length > 0) await eventOutbox.updateMany({ _id: { $in: undelivered } }, pull);
      return named + waiting + delivered.modifiedCount + undelivered.length;
    },
  };
}

async function renamed<D extends HostEventDocument | OutboxDocument>(
  collection: Collection<D>,
  filter: Filter<HostEventDocument> | Filter<OutboxDocument>,
  subject: ErasureSubject,
  { index, limit }: { readonly index: string; readonly limit: number },
): Promise<number> {
  const events = collection as unknown as Collection<WithFacts>;
  const found = await events
    .find(filter as Filter<WithFacts>, upTo(limit))
    .hint(index)
    .project<WithFacts>({ facts: 1, memberIds: 1 })
    .toArray();
  if (found.length === 0) return 0;
  const put = (id: UserId): UserId => (id === subject.memberId ? subject.pseudonym : id);
  await events.bulkWrite(
    found.map(({ _id, facts, memberIds }) => ({
      updateOne: {
        filter: { _id },
        update: {
          $set: {
            ...idsReplaced(facts, put),
            ...(memberIds === undefined ? {} : { memberIds: memberIds.map(put) }),
          },
        },
      },
    })),
    { ordered: false },
  );
  return found.length;
}

function idsReplaced(facts: HostEventFacts, put: (id: UserId) => UserId): Record<string, UserId> {
  const replaced: Record<string, UserId> = {};
  for (const field of NAMING) {
    const id = facts[field];
    if (id !== undefined) replaced[`facts.${field}`] = put(id);
  }
  return replaced;
}
