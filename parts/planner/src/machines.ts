import type { Operations, Pulled } from './operations.ts';
import { CLAIM_SHARE } from './simulation/pass-shares.ts';
import type { UnitCosts } from './unit-costs.ts';

/** Busy cores in the busiest hour. */
export interface Cores {
  readonly api: number;
  readonly worker: number;
  readonly database: number;
  readonly redis: number;
}

export interface Machines {
  readonly api: number;
  readonly worker: number;
  readonly database: number;
  readonly redis: number;
}

/** Maximum utilisation of a core: above it, waiting grows faster than throughput. */
export const MOST_BUSY = 0.6;
/** Minimum per kind of process, so that one may fail. */
const FEWEST = 2;
/** Members of a replica set per shard. */
const MEMBERS = 3;
/** A Redis primary and its replica. */
const REDIS_PAIR = 2;
/** Maximum data per shard; copying more takes days. */
export const MOST_OF_SHARD = 2 * 2 ** 40;

/**
 * CPU of a page of notifications, as a multiple of that of a feed, in docs/notifications.md. Readers look when something is
 * new: while nothing has changed, it is 1.5.
 */
const OF_NOTIFICATIONS = 3.5;

/**
 * The same of a page of a reader who has put away, muted, blocked or filters for much: what the parts `few-match` and `full-reader` of the
 * benchmark hold it to.
 */
const OF_MARKED = 3;

const MICROS = 1e6;

export function coresOf(costs: UnitCosts, operations: Operations, pulled: Pulled, model: string): Cores {
  const { page, publish, pass, event, pulled: more } = costs;
  const { actions, deliveries, pages, marked, notifications, events } = operations;
  const delivery = costs.models[model]?.delivery ?? { process: 0, database: 0, redis: 0 };
  const ofPages = (part: 'process' | 'database'): number =>
    pages * (page[part] + pulled.readerShare * more.first[part] + pulled.followed * more.each[part]) +
    (marked * (OF_MARKED - 1) + notifications * OF_NOTIFICATIONS) * page[part];
  const sum = (...parts: readonly number[]): number => parts.reduce((all, part) => all + part, 0) / MICROS;
  return {
    api: sum(ofPages('process'), actions * publish.process, events * event.process),
    worker: sum(actions * pass.process, deliveries * delivery.process),
    database: sum(
      ofPages('database'),
      actions * (publish.database + pass.database),
      deliveries * delivery.database,
    ),
    redis: sum(deliveries * delivery.redis, events * event.redis),
  };
}

/** With what it costs that all other workers hear of each action. */
export function withWaking(
  { wake = { process: 0, database: 0 } }: Pick<UnitCosts, 'wake'>,
  cores: Cores,
  { actions, workers }: Pick<Operations, 'actions'> & { readonly workers: number },
): Cores {
  const heard = (actions * Math.max(0, workers - 1)) / MICROS;
  return {
    ...cores,
    worker: cores.worker + heard * wake.process,
    database: cores.database + heard * wake.database,
  };
}

/** Worker processes; each uses one core and claims its fan-outs one after another. */
export function workersFor(
  costs: Pick<UnitCosts, 'pass' | 'wake'>,
  cores: Cores,
  { actions }: Pick<Operations, 'actions'>,
): number {
  const { process, database, wait, onPath = 1 } = costs.pass;
  const finding = (actions * CLAIM_SHARE * ((process + database) * onPath + wait)) / MICROS;
  // All workers hear of all actions. They do that in between and nothing waits for it, so it takes no more than half of the room.
  const hearing = (actions * (costs.wake?.process ?? 0)) / MICROS;
  const working =
    hearing < MOST_BUSY / 2
      ? (cores.worker - hearing) / (MOST_BUSY - hearing)
      : cores.worker / (MOST_BUSY / 2);
  return Math.max(FEWEST, Math.ceil(Math.max(working, finding / MOST_BUSY)));
}

export function shardsOf(cores: Cores, bytes: number, coresEach: number): number {
  return Math.max(coresShards(cores, coresEach), Math.ceil(bytes / MOST_OF_SHARD));
}

/** At least as many as the busy cores require, however little is stored. */
export function coresShards({ database }: Pick<Cores, 'database'>, coresEach: number): number {
  return Math.max(1, Math.ceil(database / MOST_BUSY / coresEach));
}

export function machinesOf(
  cores: Cores,
  { workers, shards }: { readonly workers: number; readonly shards: number },
  coresEach: number,
): Machines {
  const of = (busy: number): number => Math.max(FEWEST, Math.ceil(busy / MOST_BUSY / coresEach));
  return {
    api: of(cores.api),
    // More machines than processes would be idle.
    worker: Math.max(Math.min(FEWEST, workers), Math.ceil(workers / coresEach)),
    database: shards * MEMBERS,
    // A primary uses one core.
    redis: Math.max(1, Math.ceil(cores.redis / MOST_BUSY)) * REDIS_PAIR,
  };
}
