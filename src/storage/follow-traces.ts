import { ObjectId } from 'mongodb';
import type { RefId } from '../domain/action.ts';
import type { ErasureSubject } from '../domain/erasure.ts';
import { retryOnDuplicateKey } from './errors.ts';
import type { Collections } from './mongo.ts';

/** What ending a batch of follows asks for: whose counts go down by one, and whose have to be counted anew. */
export interface EndedFollows {
  readonly found: number;
  readonly ids: readonly ObjectId[];
  readonly counted: readonly RefId[];
  readonly uncertain: readonly RefId[];
}

/** What a member leaves among the follows, in bounded batches: called again until nothing is found, nothing is left. */
export function followTraces({ follows }: Pick<Collections, 'follows'>) {
  return {
    /**
     * Ends a batch of the member's own follows. Those that were counted get the token with it; of one that bears a mark
     * already nobody knows whether it was counted. Once the counts are right, `dropFollows`.
     */
    async endFollows({ memberId }: ErasureSubject, token: string, limit: number): Promise<EndedFollows> {
      const found = await follows.find({ followerId: memberId }).limit(limit).batchSize(limit).toArray();
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
      const refIdsOf = (list: typeof found): RefId[] =>
        list.map(({ refId }) => refId).filter((refId) => refId !== memberId);
      return {
        found: found.length,
        ids: [...ours, ...rest].map(({ _id }) => _id),
        counted: refIdsOf(ours),
        uncertain: refIdsOf(rest.filter((follow) => follow.settling !== undefined)),
      };
    },

    /** Those that were followed again meanwhile stay for the next batch. */
    async dropFollows(ids: readonly ObjectId[]): Promise<void> {
      await follows.deleteMany({ _id: { $in: [...ids] }, active: false });
    },

    /**
     * Ends what others follow of the member and gives it the pseudonym: they follow nobody by it any more, and what came
     * through it stays theirs. Unique key: refId, followerId. Index `followers`.
     */
    async moveFollowers({ memberId, pseudonym }: ErasureSubject, now: Date, limit: number): Promise<number> {
      const found = await follows.find({ refId: memberId }).limit(limit).batchSize(limit).toArray();
      const kept = found.filter(({ spans, followerId }) => spans.length > 0 && followerId !== memberId);
      const writes = kept.map(({ followerId, spans }) => ({
        updateOne: {
          filter: { refId: pseudonym, followerId },
          update: {
            $setOnInsert: {
              active: false,
              spans: spans.map((span) => ({ ...span, until: span.until ?? now })),
            },
          },
          upsert: true,
        },
      }));
      if (writes.length > 0) await retryOnDuplicateKey(() => follows.bulkWrite(writes, { ordered: false }));
      if (found.length > 0) await follows.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } });
      return found.length;
    },
  };
}
