import { DEFAULT_LANE, type Lane } from '../domain/lane.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { Collections } from './mongo.ts';

export interface LaneFigures {
  /** Waiting or being worked on. */
  readonly pending: number;
  /** Since when the oldest of those that wait could have been taken up; null: none waits. */
  readonly dueSince: Date | null;
}

/** How much delivery is under way. Indexes `claim`, `tenant_claim`. Tenant null: of all. */
export function workFiguresRepository({ actions }: Pick<Collections, 'actions'>) {
  return {
    async lanes(tenant: Tenant | null): Promise<Map<Lane, LaneFigures>> {
      const groups = await actions
        .aggregate<{ _id: Lane | null; pending: number; dueSince: Date | null }>([
          {
            $match: {
              ...(tenant === null ? {} : { tenant }),
              'fanOut.state': { $in: ['PENDING', 'IN_PROGRESS'] },
              'fanOut.leaseUntil': { $exists: true },
            },
          },
          {
            $group: {
              _id: { $ifNull: ['$fanOut.lane', DEFAULT_LANE] },
              pending: { $sum: 1 },
              dueSince: {
                $min: { $cond: [{ $eq: ['$fanOut.state', 'PENDING'] }, '$fanOut.leaseUntil', null] },
              },
            },
          },
        ])
        .toArray();
      return new Map(
        groups.map(({ _id, pending, dueSince }) => [_id ?? DEFAULT_LANE, { pending, dueSince }]),
      );
    },

    async failedFanOuts(tenant: Tenant | null): Promise<number> {
      return actions.countDocuments({
        ...(tenant === null ? {} : { tenant }),
        ...{ 'fanOut.state': 'FAILED', 'fanOut.leaseUntil': { $exists: true } },
      });
    },
  };
}

export type WorkFiguresRepository = ReturnType<typeof workFiguresRepository>;
