import type { Erasure } from '../../domain/erasure.ts';
import type { Tenant } from '../../domain/tenant.ts';
import { toErasure } from './erasures.ts';
import type { Collections } from '../database/mongo.ts';

export interface ErasurePlace {
  readonly startedAt: Date;
  /** Identifies the erasure without naming the member: 64 hex digits. */
  readonly key: string;
}

export type ListedErasure = Erasure & ErasurePlace;

export function erasureListRepository({ erasures }: Collections) {
  return {
    /** Erasures after a position, latest first. Indexes `newest`, `tenant`. Tenant `null`: tenants are off. */
    async read(tenant: Tenant | null, after: ErasurePlace | null, limit: number): Promise<ListedErasure[]> {
      const documents = await erasures
        .find({
          ...(tenant === null ? {} : { tenant }),
          ...(after === null
            ? {}
            : {
                startedAt: { $lte: after.startedAt },
                $or: [
                  { startedAt: { $lt: after.startedAt } },
                  { startedAt: after.startedAt, _id: { $lt: after.key } },
                ],
              }),
        })
        .sort({ startedAt: -1, _id: -1 })
        .limit(limit)
        .batchSize(limit)
        .toArray();
      return documents.map((document) => ({ ...toErasure(document), key: document._id }));
    },
  };
}
