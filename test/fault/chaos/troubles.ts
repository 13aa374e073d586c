import { setTimeout as delay } from 'node:timers/promises';
import type { SeededRandom } from '../../support/seeded-random.ts';
import type { World } from './world.ts';

/** A disk is full for so long at least: short runs leave it to long ones. */
const FULL_FOR_MS = 15_000;

/** When a service stood still, was started again or had no room. */
export interface Outage {
  readonly from: number;
  to: number;
}

/** A service that was killed is back after so long, on a busy machine. */
const BACK_WITHIN_MS = 30_000;

export interface TroubleOptions {
  /** How long something stands still, and the disk is full. */
  readonly pauseMs: number;
  /** Ends the troubles; what stands still goes on first. */
  readonly signal: AbortSignal;
  readonly note: (line: string) => void;
  /** Where those of services are written down. */
  readonly outages: Outage[];
}

const KILLED = [
  'api',
  'api',
  'worker',
  'worker',
  'wire',
  'redis',
  'what redis has',
  'gateway',
  'postgres',
] as const;

/** Kills processes, lets services stand still and fills their disk, until the signal. */
export async function makeTroubles(
  world: World,
  random: SeededRandom,
  options: TroubleOptions,
): Promise<void> {
  await Promise.all([killNowAndThen(world, random, options), standStillNowAndThen(world, random, options)]);
}

async function killNowAndThen(
  { engine, fleet, wires }: World,
  random: SeededRandom,
  { pauseMs, signal, note, outages }: TroubleOptions,
): Promise<void> {
  const kill = async (kind: (typeof KILLED)[number]): Promise<void> => {
    if (kind === 'wire') {
      const wire = random.pick(wires);
      note('cut a wire');
      wire.cut();
      wire.heal();
    } else if (kind === 'api' || kind === 'worker')
      note(`kill ${kind} ${String(fleet.kill(kind, (count) => random.below(count))?.pid)}`);
    else {
      outages.push({ from: Date.now(), to: Date.now() + BACK_WITHIN_MS });
      if (kind !== 'what redis has') note(`kill ${kind}: ${String(engine.kill(kind))}`);
      // It may be away just now.
      else
        await engine.emptyRedis().then(
          () => {
            note('redis is emptied');
          },
          (error: unknown) => {
            note(`redis is not emptied: ${String(error)}`);
          },
        );
    }
  };
  while (await passes(pauseMs * (0.2 + random.next() * 0.4), signal)) await kill(random.pick(KILLED));
}

/** One thing after the other. */
async function standStillNowAndThen(
  { engine, fleet }: World,
  random: SeededRandom,
  { pauseMs, signal, note, outages }: TroubleOptions,
): Promise<void> {
  const troubles: readonly (readonly [string, () => (() => void) | null])[] = [
    ['redis stands still', () => engine.pause('redis')],
    ['the gateway stands still', () => engine.pause('gateway')],
    ['a worker stands still', () => fleet.pause('worker', (count) => random.below(count))],
    ...(engine.fillDisk === null || pauseMs < FULL_FOR_MS
      ? []
      : [['the disk is full', engine.fillDisk] as const]),
  ];
  let turn = random.below(troubles.length);
  while (await passes(pauseMs * (0.1 + random.next() * 0.4), signal)) {
    const [name, begin] = troubles[(turn += 1) % troubles.length] ?? ['', () => null];
    note(`${name}, from now`);
    const outage = { from: Date.now(), to: Infinity };
    const end = begin();
    outages.push(outage);
    try {
      await passes(pauseMs, signal);
    } finally {
      end?.();
      outage.to = Date.now() + BACK_WITHIN_MS;
      note(`${name}, until now`);
    }
  }
}

/** Whether the time has passed before the signal. */
async function passes(ms: number, signal: AbortSignal): Promise<boolean> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
  return !signal.aborted;
}
