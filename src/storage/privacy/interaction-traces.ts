import type { ObjectId } from 'mongodb';
import type { ErasureSubject } from '../../domain/erasure.ts';
import { withoutSubject } from '../../descriptors/anonymise.ts';
import { interactionRecords } from '../interactions/interaction-records.ts';
import { moderationRepository } from '../actions/moderation.ts';
import type { Collections } from '../database/mongo.ts';
import { OPEN_FAN_OUT } from '../stages/open-fan-out.ts';

/** A member's interactions and moderation. See `member-traces.ts`. */
export function interactionTraces(collections: Collections) {
  const { actions, interactions, moderationLog } = collections;
  const moderation = moderationRepository(collections);
  const interactionsOf = interactionRecords(collections);

  return {
    /**
     * Counts and boosts stay, since they depend on the interaction and not on the id. Texts and data are removed. Index
     * `actor`.
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
              // The key contains the actor, and only has to be unique within the action.
              update: {
                $set: { actorId: pseudonym, key: _id.toHexString() },
                $unset: { text: 1, data: 1, replayKeys: 1 },
              },
            },
          })),
          { ordered: false },
        );
      return found.length;
    },

    /** The member's moderation: what was done, when and why stays on record. Indexes `claim`, `unsettled`, `by`. */
    async anonymiseModeration(subject: ErasureSubject, limit: number): Promise<number> {
      const unlogged = await actions
        .find({ ...OPEN_FAN_OUT, 'unlogged.by': subject.memberId })
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
  };
}
