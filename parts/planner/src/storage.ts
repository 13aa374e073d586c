import { DAY_SECONDS, type Operations } from './operations.ts';
import type { UnitCosts } from './unit-costs.ts';
import type { Workload } from './workload.ts';

export interface Stored {
  readonly what: string;
  readonly where: 'database' | 'redis';
  readonly documents: number;
  readonly bytes: number;
  /** Growth per day, until the cap or the retention is reached. */
  readonly aDay: number;
}

/** Bytes of what is stored of how far a member has seen and read notifications, with its indexes, in the local engine. */
const NOTIFICATION_STATE = 400;

export function storageOf(workload: Workload, costs: UnitCosts, operations: Operations): readonly Stored[] {
  const { members, follows, actions, notifications, cap, days, model, peak } = workload;
  const { database = 0, redis = 0 } = costs.models[model]?.bytes ?? {};
  const entriesADay = (operations.deliveries / peak) * DAY_SECONDS;
  const entries = database + redis === 0 ? 0 : Math.min(entriesADay * days, members * cap);
  // In time, everybody has looked once.
  const states = notifications === 0 ? 0 : members;
  return [
    {
      ...{ what: 'actions', where: 'database', documents: actions * days, aDay: actions },
      bytes: actions * days * costs.bytes.action,
    },
    {
      ...{ what: 'entries of feeds', where: redis > database ? 'redis' : 'database', documents: entries },
      ...{ bytes: entries * (database + redis), aDay: entries === 0 ? 0 : entriesADay },
    },
    {
      ...{ what: 'follows', where: 'database', documents: members * follows, aDay: 0 },
      bytes: members * follows * costs.bytes.follow,
    },
    {
      ...{ what: 'states of notifications', where: 'database', documents: states, aDay: 0 },
      bytes: states * NOTIFICATION_STATE,
    },
  ];
}
