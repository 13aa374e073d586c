import type { ObjectId } from 'mongodb';
import type { ErasureSubject, ErasureTask } from '../../domain/erasure.ts';
import { clock } from '../../lib/clock.ts';
import { ACTION_TRACES, anonymiseActions } from '../actions/anonymise-actions.ts';
import { passRequested } from '../stages/fan-out-stages.ts';
import type { Collections } from '../database/mongo.ts';
import { OPEN_FAN_OUT } from '../stages/open-fan-out.ts';
import { revised, unrevised } from '../stages/revision.ts';
import { literal } from '../stages/literal.ts';

const ERROR_REMOVED = 'The error named a member who was erased';

/** Actions related to a member, and their fan-outs. See `member-traces.ts`. */
export function actionTraces(collections: Collections) {
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
      const found = await actions
        .find({ 'reshares.by': memberId, reshares: { $exists: true } })
        .project<{ _id: ObjectId }>({ _id: 1 })
        .limit(limit)
        .batchSize(limit)
        .toArray();
      const ids = { _id: { $in: found.map(({ _id }) => _id) } };
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

    /** Checkpoints and errors of fan-outs may name a reader. Index `claim`: unfinished ones. */
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
