import type { Document } from 'mongodb';
import type { UserId } from '../../../domain/action.ts';
import { inSlices } from '../../../lib/turn.ts';
import type { Collections } from '../../../storage/database/mongo.ts';
import { inOneBatch } from '../../../storage/database/batches.ts';

export interface DueDigest {
  readonly userId: UserId;
  readonly dueAt: Date;
  /** Approximate time of the last read; `null`: never. */
  readonly activeAt: Date | null;
}

const BATCH = 1_000;

/** Due times of readers' digests, stored in the reader's document. */
export function digestsRepository({ feeds }: Collections) {
  return {
    /**
     * Records deliveries to these readers: their digest becomes due after a delay, but not sooner than a minimum time after
     * the last one. An existing due time is kept. One read per thousand readers, and one write if any were not due yet.
     */
    async note(
      userIds: readonly UserId[],
      { dueAt, everyMs }: { readonly dueAt: Date; readonly everyMs: number },
    ): Promise<void> {
      await inSlices(userIds, BATCH, async (some) => {
        const due = await inOneBatch(
          feeds
            .find({ _id: { $in: [...some] }, digestAt: { $exists: true } })
            .project<{ _id: UserId }>({ _id: 1 }),
          some.length,
        );
        const known = new Set(due.map(({ _id }) => _id));
        const others = some.filter((userId) => !known.has(userId));
        if (others.length === 0) return;
        const next = { $max: [dueAt, { $add: [{ $ifNull: ['$digestedAt', new Date(0)] }, everyMs] }] };
        const update: Document[] = [{ $set: { digestAt: { $ifNull: ['$digestAt', next] } } }];
        await feeds.bulkWrite(
          others.map((_id) => ({ updateOne: { filter: { _id }, update, upsert: true } })),
          { ordered: false },
        );
      });
    },

    /** Index `digest`. */
    async due(now: Date, limit: number): Promise<DueDigest[]> {
      const documents = await feeds
        .find({ digestAt: { $exists: true, $lte: now } })
        .sort({ digestAt: 1 })
        .project<{ _id: UserId; digestAt: Date; activeAt?: Date }>({ digestAt: 1, activeAt: 1 })
        .limit(limit)
        .batchSize(limit)
        .toArray();
      return documents.map(({ _id, digestAt, activeAt }) => ({
        ...{ userId: _id, dueAt: digestAt, activeAt: activeAt ?? null },
      }));
    },

    /** Moves the due time; does nothing if another process has already decided. */
    async postpone({ userId, dueAt }: DueDigest, until: Date): Promise<void> {
      await feeds.updateOne({ _id: userId, digestAt: dueAt }, { $set: { digestAt: until } });
    },

    /** Clears the due time until the next delivery. @param digestedAt `null`: there was nothing unread to report. */
    async settle({ userId, dueAt }: DueDigest, digestedAt: Date | null): Promise<void> {
      await feeds.updateOne(
        { _id: userId, digestAt: dueAt },
        { $unset: { digestAt: 1 }, ...(digestedAt === null ? {} : { $set: { digestedAt } }) },
      );
    },
  };
}
