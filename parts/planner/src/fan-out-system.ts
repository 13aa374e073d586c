import type { FanOutCosts, WorkCost } from './simulation/system.ts';
import type { UnitCosts, UnitWork } from './unit-costs.ts';

const MICROS = 1e6;

/** Times of the simulation, in seconds. */
export function fanOutCosts(
  costs: Pick<UnitCosts, 'publish' | 'pass' | 'wake' | 'chunkWait' | 'models'>,
  model: string,
): FanOutCosts {
  const { process = 0, database = 0, redis = 0 } = costs.models[model]?.delivery ?? {};
  return {
    publish: seconds(costs.publish),
    pass: seconds(costs.pass),
    ...(costs.wake === undefined ? {} : { wake: cpuSeconds(costs.wake) }),
    // A process waits for Redis as for the database; what the others use of Redis is little beside.
    delivery: { process: process / MICROS, database: (database + redis) / MICROS },
    chunkWait: costs.chunkWait / MICROS,
  };
}

function seconds({ wait, onPath = 1, amongMany, ...alone }: UnitWork): WorkCost {
  return {
    ...{ ...cpuSeconds(alone), wait: wait / MICROS, onPath },
    ...(amongMany === undefined ? {} : { amongMany: cpuSeconds(amongMany) }),
  };
}

function cpuSeconds({ process, database }: Pick<UnitWork, 'process' | 'database'>) {
  return { process: process / MICROS, database: database / MICROS };
}
