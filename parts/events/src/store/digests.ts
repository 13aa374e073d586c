import type { Document, Filter } from 'mongodb';
import type { UserId } from '../../../../src/domain/action.ts';
import { inSlices } from '../../../../src/lib/turn.ts';
import type { Collections } from '../../../../src/storage/database/mongo.ts';
import {
  type Claiming,
  type Failure,
  type Held,
  leased,
  leaseDue,
} from '../../../../src/storage/database/lease.ts';
import type { FeedDocument } from '../../../../src/storage/documents/reader-documents.ts';
import { inOneBatch } from '../../../../src/storage/database/batches.ts';

export interface DueDigest extends Held<UserId> {
  /** When it first became due. */
  readonly dueAt: Date;
  /** Approximate time of the last read; `null`: never. */
  readonly activeAt: Date | null;
}

const BATCH = 1_000;

/** Readers whose digest is due by then. */
export const isDigestDue = (by: Date): Filter<FeedDocument> => leaseDue('digest', by);

/** Due times of readers' digests, stored in the reader's document. */
export function digestsRepository({ feeds }: Collections) {
  const leases = leased(feeds, 'digest');

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
            .find({ _id: { $in: [...some] }, 'digest.due': { $exists: true } })
            .project<{ _id: UserId }>({ _id: 1 }),
          some.length,
        );
        const known = new Set(due.map(({ _id }) => _id));
        const others = some.filter((userId) => !known.has(userId));
        if (others.length === 0) return;
        const next = { $max: [dueAt, { $add: [{ $ifNull: ['$digestedAt', new Date(0)] }, everyMs] }] };
        const update: Document[] = [
          { $set: { digest: { $ifNull: ['$digest', { due: next, progress: next }] } } },
        ];
        await feeds.bulkWrite(
          others.map((_id) => ({ updateOne: { filter: { _id }, update, upsert: true } })),
          { ordered: false },
        );
      });
    },

    /** Claims those that have been due longest. Index `digest`. */
    async claimDue(claiming: Claiming, limit: number): Promise<DueDigest[]> {
      const { token, now } = claiming;
      const documents = await leases.claimSome(claiming, limit);
      return documents.map(({ _id: id, digest, activeAt }) => ({
        ...{ id, token, dueAt: digest?.progress ?? now, activeAt: activeAt ?? null },
      }));
    },

    /** Due again from then on, for a reason or in order. Does nothing when the claim is void. */
    release: (due: DueDigest, from: Date, failure?: Failure) => leases.release(due, from, failure),

    /** Clears the due time until the next delivery. @param digestedAt `null`: there was nothing unread to report. */
    async settle(due: DueDigest, digestedAt: Date | null): Promise<void> {
      await feeds.updateOne(leases.held(due), {
        ...{ $unset: { digest: 1 } },
        ...(digestedAt === null ? {} : { $set: { digestedAt } }),
      });
    },
  };
}
