import { ObjectId, type Document } from 'mongodb';
import type { RefId, UserId } from '../../domain/action.ts';
import type { ErasureSubject } from '../../domain/erasure.ts';
import type { FollowDocument } from '../documents/reader-documents.ts';
import { retryOnDuplicateKey } from '../database/errors.ts';
import type { Collections } from '../database/mongo.ts';
import { literal } from '../stages/literal.ts';

/** Result of ending a batch of follows: refs to decrement by one, and refs to recount. */
export interface EndedFollows {
  readonly ids: readonly ObjectId[];
  readonly counted: readonly RefId[];
  readonly uncertain: readonly { readonly id: ObjectId; readonly refId: RefId }[];
}

/** A member's traces in follows. Works in bounded batches; repeat until nothing is found. */
export function followTraces({ follows }: Collections) {
  return {
    /** A batch of the member's own follows. Index `pair`. */
    async followsOf({ memberId }: ErasureSubject, limit: number): Promise<FollowDocument[]> {
      return follows.find({ followerId: memberId }).hint('pair').limit(limit).batchSize(limit).toArray();
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
          { $set: { active: false, spans: [] } },
        );
      if (sure.length > 0)
        await follows.updateMany(
          { _id: { $in: sure }, active: true, settling: { $exists: false } },
          { $set: { active: false, spans: [], settling } },
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
    async dropFollows(ids: readonly ObjectId[]): Promise<void> {
      await follows.deleteMany({ _id: { $in: [...ids] }, active: false });
    },

    /**
     * Copies a batch of follows of the member, including open spans, to the pseudonym; the originals stay. Unique key:
     * followerId, refId. Index `by_ref`.
     */
    async copyFollowers({ memberId, pseudonym }: ErasureSubject, limit: number): Promise<number> {
      const found = await follows
        .find({ refId: memberId, isCopied: { $exists: false } })
        .limit(limit)
        .batchSize(limit)
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
      const found = await follows.find({ refId: memberId }).limit(limit).batchSize(limit).toArray();
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
