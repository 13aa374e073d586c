import { amount, bytesOf, coresText, counted, seconds } from './figures.ts';
import { coresShards } from './machines.ts';
import type { Plan, ThresholdCost } from './shape.ts';

type Planned = Omit<Plan, 'advice'>;

/** Maximum delay for readers in the largest published installations, in seconds. */
export const LONGEST_LAG = 5;
/** Smaller differences are within the accuracy of the costs. */
const WORTH_IT = 0.9;
/** Fewer busy cores are no reason to change anything. */
const TOO_FEW = 0.1;
/** Feeds that fit comfortably into one Redis, in bytes. */
const MOST_OF_REDIS = 64 * 2 ** 30;
/** Queries per second for watchers, above which workers do little else. */
const MOST_QUERIES = 1_000;

/** Recommended changes, most important first; nothing is said about what is fine. */
export function adviceFor(plan: Planned): readonly string[] {
  return [
    ...lagAdvice(plan),
    ...thresholdAdvice(plan),
    ...databaseAdvice(plan),
    ...redisAdvice(plan),
    ...watcherAdvice(plan),
  ];
}

function lagAdvice({ lag, suffices, workers, workload }: Planned): string[] {
  if (workers < suffices)
    return [
      `${counted(workers, 'worker')} ${workers === 1 ? 'is' : 'are'} too few, ${amount(suffices)} are enough`,
    ];
  if (lag.p99 <= LONGEST_LAG) return [];
  return [
    workload.burst > 0
      ? `1 % of the readers wait ${seconds(lag.p99)} for a burst of ${amount(workload.burst)} actions: publish it as an import (isBulk), so that others pass it`
      : `1 % of the readers wait ${seconds(lag.p99)}: lower the threshold, or give the database more cores`,
  ];
}

/**
 * Among the thresholds with an acceptable delay for the last follower: the one with the fewest busy cores, and among those
 * with about as many, the one with the shortest delay. `null`: the delay is too long at every threshold.
 */
export function goodThresholds(
  thresholds: readonly ThresholdCost[],
): { readonly cheapest: ThresholdCost; readonly soonest: ThresholdCost } | null {
  const soonEnough = thresholds.filter(({ lastFollower }) => lastFollower <= LONGEST_LAG);
  const [cheapest] = soonEnough.toSorted((a, b) => a.cores - b.cores);
  if (cheapest === undefined) return null;
  const asCheap = soonEnough.filter(({ cores }) => cheapest.cores >= cores * WORTH_IT);
  const [soonest = cheapest] = asCheap.toSorted((a, b) => a.lastFollower - b.lastFollower);
  return { cheapest, soonest };
}

function thresholdAdvice({ thresholds, workload }: Planned): string[] {
  const now = thresholds.find(({ threshold }) => threshold === workload.threshold);
  const best = goodThresholds(thresholds)?.cheapest;
  if (now === undefined || best === undefined || best.threshold === now.threshold) return [];
  const isLate = now.lastFollower > LONGEST_LAG;
  if (!isLate && (best.cores > now.cores * WORTH_IT || now.cores - best.cores < TOO_FEW)) return [];
  return [
    `CELEBRITY_THRESHOLD=${String(best.threshold)}: ${coresText(best.cores)} busy cores instead of ${coresText(now.cores)}, and the last follower has an action after ${seconds(best.lastFollower)} instead of ${seconds(now.lastFollower)}`,
  ];
}

function databaseAdvice({ shards, cores, storage, workload }: Planned): string[] {
  const [most] = storage.filter(({ where }) => where === 'database').toSorted((a, b) => b.bytes - a.bytes);
  return shards === 1 || most === undefined
    ? []
    : [
        `one replica set does not suffice: ${amount(shards)} shards (fanfare shard prints their keys); ` +
          (coresShards(cores, workload.cores) === shards
            ? `the database has ${coresText(cores.database)} busy cores, and a machine ${amount(workload.cores)}: larger machines need fewer shards`
            : `most of it is ${most.what}, ${bytesOf(most.bytes)}`) +
          (coresShards(cores, workload.cores) < shards &&
          most.what === 'entries of feeds' &&
          most.documents >= workload.members * workload.cap
            ? ': a lower FEED_CAP takes less'
            : ''),
      ];
}

function redisAdvice({ storage, machines }: Planned): string[] {
  const bytes = storage.reduce((sum, entry) => sum + (entry.where === 'redis' ? entry.bytes : 0), 0);
  return machines.redis <= 2 && bytes <= MOST_OF_REDIS
    ? []
    : [
        `one Redis does not suffice${bytes === 0 ? '' : ` (${bytesOf(bytes)} of feeds)`}: a Redis Cluster, up to 16 primaries`,
      ];
}

function watcherAdvice({ operations, workload }: Planned): string[] {
  if (operations.watcherQueries <= MOST_QUERIES) return [];
  const watchers = workload.readers * workload.watching;
  return [
    `each action that is pulled looks through all ${amount(watchers)} who watch, ${amount(operations.watcherQueries)} queries a second together: ${workload.model === 'pull' ? 'a feed model that stores entries' : 'a higher threshold'} has fewer of them`,
  ];
}
