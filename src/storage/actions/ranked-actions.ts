import { ObjectId, type Collection } from 'mongodb';
import type { ActionId, UserId } from '../../domain/action.ts';
import { MAX_FUTURE_MS } from '../../domain/relevancy.ts';
import type { ActionDocument, EngagementDocument } from '../documents/documents.ts';
import { inOneBatch } from '../database/in-one-batch.ts';

const BATCH = 500;

/** The fields of an action that its ranking needs: a few hundred bytes without its content. */
export interface RankedAction {
  readonly id: ActionId;
  readonly actorId: UserId;
  readonly conducted: Date;
  /** Descriptor type. */
  readonly type: string;
  readonly engagement: EngagementDocument;
}

const FIELDS = { actorId: 1, conducted: 1, 'descriptor.type': 1, engagement: 1 } as const;

type Projected = Pick<ActionDocument, '_id' | 'actorId' | 'conducted' | 'engagement'> & {
  readonly descriptor: { readonly type: string };
};

function toRankedAction({ _id, actorId, conducted, engagement, descriptor }: Projected): RankedAction {
  return { id: _id.toHexString(), actorId, conducted, engagement, type: descriptor.type };
}

/** Reads actions for their ranking. All lookups are by `_id`. */
export function rankedActionsRepository(collection: Collection<ActionDocument>) {
  return {
    /** Unordered; missing ones are left out. One round trip. */
    async find(ids: readonly ActionId[]): Promise<RankedAction[]> {
      const documents = await inOneBatch(
        collection.find({ _id: { $in: ids.map((id) => new ObjectId(id)) } }).project<Projected>(FIELDS),
        ids.length,
      );
      return documents.map(toRankedAction);
    },

    /** Unordered batches. Selects by the recording time in the ids, minus the margin by which `conducted` may be ahead. */
    async *conductedSince(since: Date): AsyncGenerator<RankedAction[], void, undefined> {
      const youngest = ObjectId.createFromTime(Math.floor((since.getTime() - MAX_FUTURE_MS) / 1_000));
      const cursor = collection
        .find({ _id: { $gte: youngest }, conducted: { $gte: since }, isDeleted: false })
        .project<Projected>(FIELDS)
        .batchSize(BATCH);
      try {
        while (await cursor.hasNext()) yield cursor.readBufferedDocuments().map(toRankedAction);
      } finally {
        await cursor.close();
      }
    },
  };
}
