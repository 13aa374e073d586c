import type { ErasureState } from '../../domain/erasure.ts';
import { DEFAULT_LANE, type Lane } from '../../domain/lane.ts';
import type { UserId } from '../../domain/action.ts';
import { fieldBeside } from '../../domain/stored-id.ts';
import type { Collections } from './mongo.ts';

declare module '../repositories.ts' {
  interface Repositories {
    readonly workFigures: ReturnType<typeof workFiguresRepository>;
  }
}

export interface LaneFigures {
  /** Waiting or in progress. */
  readonly pending: number;
  /** When the oldest waiting one became due; `null`: none is waiting. */
  readonly dueSince: Date | null;
}

/** Amount of work in progress, beside an id, or all of it for `null`. Index of actions `claim`. */
export function workFiguresRepository({ actions, erasures }: Collections) {
  return {
    async lanes(beside: UserId | null): Promise<Map<Lane, LaneFigures>> {
      const groups = await actions
        .aggregate<{ _id: Lane | null; pending: number; dueSince: Date | null }>([
          {
            $match: {
              ...fieldBeside(beside),
              'fanOut.state': { $in: ['PENDING', 'IN_PROGRESS'] },
              'fanOut.leaseUntil': { $exists: true },
            },
          },
          {
            $group: {
              _id: '$fanOut.lane',
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

    async failedFanOuts(beside: UserId | null): Promise<number> {
      return actions.countDocuments({
        ...fieldBeside(beside),
        ...{ 'fanOut.state': 'FAILED', 'fanOut.leaseUntil': { $exists: true } },
      });
    },

    /** Unfinished erasures by state. Index `due`. */
    async openErasures(): Promise<Record<Exclude<ErasureState, 'DONE'>, number>> {
      const groups = await erasures
        .aggregate<{ _id: ErasureState; count: number }>([
          { $match: { 'pass.due': { $exists: true } } },
          { $group: { _id: '$state', count: { $sum: 1 } } },
        ])
        .toArray();
      const counts = new Map(groups.map(({ _id, count }) => [_id, count]));
      return { RUNNING: counts.get('RUNNING') ?? 0, CONFIRMING: counts.get('CONFIRMING') ?? 0 };
    },
  };
}
