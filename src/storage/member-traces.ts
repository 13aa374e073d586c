import type { Filter, ObjectId } from 'mongodb';
import type { UserId } from '../domain/action.ts';
import type { ErasureSubject, ErasureTask } from '../domain/erasure.ts';
import type { MuteKind } from '../domain/mute.ts';
import { FORMER_MEMBER } from '../domain/pseudonym.ts';
import { ACTION_TRACES, anonymiseActions, withoutSubject } from './anonymise-actions.ts';
import { clock } from '../lib/clock.ts';
import { HAS_DETAILS, NO_DETAILS } from './details.ts';
import type { ActionDocument } from './documents.ts';
import { passRequested } from './fan-out-stages.ts';
import { eventTraces } from './event-traces.ts';
import { followTraces } from './follow-traces.ts';
import { interactionRecords } from './interaction-records.ts';
import { moderationRepository } from './moderation.ts';
import type { Collections } from './mongo.ts';
import type { BookmarkDocument, ItemMarkDocument } from './reader-documents.ts';
import { revised, unrevised } from './revision.ts';
import type { DirectoryStampsRepository } from './directory-stamps.ts';

/** Fan-outs that are not DONE; `$exists` names the condition of the partial index. */
const OPEN: Filter<ActionDocument> = {
  'fanOut.state': { $in: ['PENDING', 'IN_PROGRESS', 'FAILED'] },
  'fanOut.leaseUntil': { $exists: true },
};
const ERROR_REMOVED = 'The error named a member who was erased';

/**
 * Everything outside a feed in which a member leaves a trace. Each method does one bounded batch and returns how much
 * it found: called again until that is 0, nothing is left. Cut off anywhere and repeated, each comes to the same end.
 */
export function memberTracesRepository(
  collections: Collections,
  directoryStamps: Pick<DirectoryStampsRepository, 'stamping'>,
) {
  const { actions, bookmarks, feeds, hiddenItems, itemMarks, interactions, members, moderationLog, refs } =
    collections;
  const moderation = moderationRepository(collections);
  const interactionsOf = interactionRecords(collections);

  return {
    ...followTraces(collections),
    ...eventTraces(collections),

    /**
     * Takes name, details, groups and supervisor from who they are, and name and details from what they are as a ref:
     * names are read from there, so from now on nobody is shown theirs, wherever it was copied to.
     */
    async conceal({ memberId }: ErasureSubject): Promise<number> {
      const results = await directoryStamps.stamping([memberId], () =>
        Promise.all([
          members.updateOne(
            { _id: memberId, $or: [{ name: { $ne: FORMER_MEMBER } }, ...HAS_DETAILS] },
            {
              $set: {
                name: FORMER_MEMBER,
                teamId: null,
                teamSince: null,
                departmentId: null,
                departmentSince: null,
                supervisorId: null,
              },
              $unset: NO_DETAILS,
            },
          ),
          refs.updateOne(
            {
              _id: memberId,
              label: { $exists: true },
              $or: [{ label: { $ne: FORMER_MEMBER } }, ...HAS_DETAILS],
            },
            { $set: { label: FORMER_MEMBER }, $unset: NO_DETAILS },
          ),
        ]),
      );
      return results.reduce((sum, { modifiedCount }) => sum + modifiedCount, 0);
    },

    /** Who they are, what they are as a ref, and what they said about their feed: the last to go. */
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

    /** Actions that have to do with them, by every way of finding them. Indexes `slice`, `names`, `other_ids`, `audience`. */
    async anonymiseActions(subject: ErasureTask, limit: number): Promise<number> {
      for (const { filter } of ACTION_TRACES) {
        const changed = await anonymiseActions(collections, subject, filter(subject.memberId), limit);
        if (changed > 0) return changed;
      }
      // A delivery that had read the action before may have written down whom it is pulled through.
      const pulled = { refIds: subject.pseudonym, pullRefIds: subject.memberId };
      return anonymiseActions(collections, subject, pulled, limit);
    },

    /**
     * Counts and boosts stay as they are: they go by who it was, not by what they are called. What they wrote goes.
     * Index `actor`.
     */
    async anonymiseInteractions({ memberId, pseudonym }: ErasureSubject, limit: number): Promise<number> {
      const found = await interactions
        .find({ actorId: memberId })
        .project<{ _id: ObjectId }>({ _id: 1 })
        .limit(limit)
        .batchSize(limit)
        .toArray();
      if (found.length > 0)
        await interactions.bulkWrite(
          found.map(({ _id }) => ({
            updateOne: {
              filter: { _id, actorId: memberId },
              // The key names the actor, and only has to differ from the others of its action.
              update: {
                $set: { actorId: pseudonym, key: _id.toHexString(), keyForm: 2 },
                $unset: { text: 1, data: 1, replayKeys: 1 },
              },
            },
          })),
          { ordered: false },
        );
      return found.length;
    },

    /**
     * Puts the pseudonym in place of a member who has passed actions on: its followers are those of the member. A delivery
     * that is under way by the old id is followed by one more. Index `reshared`.
     */
    async anonymiseReshares({ memberId, pseudonym }: ErasureSubject, limit: number): Promise<number> {
      const found = await actions
        .find({ 'reshares.by': memberId, reshares: { $exists: true } })
        .project<{ _id: ObjectId }>({ _id: 1 })
        .limit(limit)
        .batchSize(limit)
        .toArray();
      const ids = { _id: { $in: found.map(({ _id }) => _id) } };
      const renamed = {
        $cond: [{ $eq: ['$$reshare.by', { $literal: memberId }] }, pseudonym, '$$reshare.by'],
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
          { ...ids, ...OPEN, 'reshares.by': memberId },
          revised([{ $set: { reshares, ...asked } }]),
        );
        await actions.updateMany({ ...ids, 'reshares.by': memberId }, revised([{ $set: { reshares } }]));
      }
      return found.length;
    },

    async removeHiddenItems({ memberId }: ErasureSubject, limit: number): Promise<number> {
      const found = await hiddenItems
        .find({ userId: memberId })
        .project<{ _id: ObjectId }>({ _id: 1 })
        .limit(limit)
        .batchSize(limit)
        .toArray();
      if (found.length > 0) await hiddenItems.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } });
      return found.length;
    },

    /** Index `state`. */
    async removeItemMarks({ memberId }: ErasureSubject, limit: number): Promise<number> {
      const found = await itemMarks
        .find({ '_id.userId': memberId })
        .project<Pick<ItemMarkDocument, '_id'>>({ _id: 1 })
        .limit(limit)
        .batchSize(limit)
        .toArray();
      if (found.length > 0) await itemMarks.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } });
      return found.length;
    },

    /** Index `newest`. */
    async removeBookmarks({ memberId }: ErasureSubject, limit: number): Promise<number> {
      const found = await bookmarks
        .find({ '_id.userId': memberId })
        .project<Pick<BookmarkDocument, '_id'>>({ _id: 1 })
        .limit(limit)
        .batchSize(limit)
        .toArray();
      if (found.length > 0) await bookmarks.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } });
      return found.length;
    },

    /**
     * Who mutes them, or what refers to them, goes on muting the pseudonym, or their feed would fill with what it kept out.
     * Phrases are their own words. Indexes `muted`, `mutes`.
     */
    async anonymiseMutes({ memberId, pseudonym }: ErasureSubject, limit: number): Promise<number> {
      const found = await ids(feeds.find({ muted: memberId }).limit(limit));
      if (found.length > 0)
        await feeds.updateMany(
          { _id: { $in: found }, muted: memberId },
          { $set: { 'muted.$[who]': pseudonym } },
          { arrayFilters: [{ who: memberId }] },
        );
      const named = { value: memberId, kind: { $in: ['MEMBER', 'REF'] as MuteKind[] } };
      const others = await ids(feeds.find({ mutes: { $elemMatch: named } }).limit(limit));
      if (others.length > 0)
        await feeds.updateMany(
          { _id: { $in: others }, mutes: { $elemMatch: named } },
          { $set: { 'mutes.$[one].value': pseudonym } },
          { arrayFilters: [{ 'one.value': memberId, 'one.kind': named.kind }] },
        );
      return found.length + others.length;
    },

    /** Whose supervisor they are: boosts that came by it stay. Index `supervisor`. */
    async anonymiseSupervisor({ memberId, pseudonym }: ErasureSubject, limit: number): Promise<number> {
      const found = await ids(members.find({ supervisorId: memberId }).limit(limit));
      await directoryStamps.stamping(found, () =>
        members.updateMany(
          { _id: { $in: found }, supervisorId: memberId },
          { $set: { supervisorId: pseudonym } },
        ),
      );
      return found.length;
    },

    /** What they did as a moderator: that it was done, when and why is to stay on record. Indexes `claim`, `unsettled`, `by`. */
    async anonymiseModeration(subject: ErasureSubject, limit: number): Promise<number> {
      const unlogged = await actions
        .find({ ...OPEN, 'unlogged.by': subject.memberId })
        .project<{ _id: ObjectId }>({ _id: 1 })
        .limit(limit)
        .toArray();
      for (const { _id } of unlogged) await moderation.log(_id.toHexString());
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

    /** Where a fan-out stands and what it failed with may name a reader. Index `claim`: what is not DONE. */
    async cleanFanOuts({ memberId }: ErasureSubject): Promise<number> {
      const literally = memberId.replace(/[.*+?^${}()|[\]\\/]/gu, '\\$&');
      const [checkpoints, former, told, errors] = await Promise.all([
        // Without its checkpoint a pass starts over, and delivers nothing twice.
        actions.updateMany(
          { ...OPEN, 'fanOut.checkpoint.afterUserId': memberId },
          unrevised({ $unset: { 'fanOut.checkpoint': 1 } }),
        ),
        actions.updateMany(
          { ...OPEN, 'fanOut.former.reshares.by': memberId },
          unrevised({ $pull: { 'fanOut.former.$[].reshares': { by: memberId } } }),
        ),
        actions.updateMany(
          { ...OPEN, 'fanOut.toldAudience.reshares.by': memberId },
          unrevised({ $pull: { 'fanOut.toldAudience.reshares': { by: memberId } } }),
        ),
        actions.updateMany(
          { ...OPEN, 'fanOut.error': { $regex: literally } },
          unrevised({ $set: { 'fanOut.error': ERROR_REMOVED } }),
        ),
      ]);
      return checkpoints.modifiedCount + former.modifiedCount + told.modifiedCount + errors.modifiedCount;
    },
  };

  async function ids(cursor: {
    project<T extends { _id: UserId }>(projection: { _id: 1 }): { toArray(): Promise<T[]> };
  }): Promise<UserId[]> {
    return (await cursor.project<{ _id: UserId }>({ _id: 1 }).toArray()).map(({ _id }) => _id);
  }
}

export type MemberTracesRepository = ReturnType<typeof memberTracesRepository>;
