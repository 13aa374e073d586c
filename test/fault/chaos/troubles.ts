import { setTimeout as delay } from 'node:timers/promises';
import type { SeededRandom } from '../../support/seeded-random.ts';
import type { World } from './world.ts';

/** A disk is full for so long at least: short runs leave it to long ones. */
const FULL_FOR_MS = 15_000;

export interface TroubleOptions {
  /** How long something stands still, and the disk is full. */
  readonly pauseMs: number;
  /** Ends the troubles; what stands still goes on first. */
  readonly signal: AbortSignal;
  readonly note: (line: string) => void;
}

/** Kills processes, lets services stand still and fills their disk, until the signal. */
export async function makeTroubles(
  world: World,
  random: SeededRandom,
  options: TroubleOptions,
): Promise<void> {
  await Promise.all([killNowAndThen(world, random, options), standStillNowAndThen(world, random, options)]);
}

async function killNowAndThen(
  { fleet, wires }: World,
  random: SeededRandom,
  { pauseMs, signal, note }: TroubleOptions,
): Promise<void> {
  while (await passes(pauseMs * (0.2 + random.next() * 0.4), signal)) {
    const kind = random.pick(['api', 'worker', 'wire'] as const);
    if (kind === 'wire') {
      const wire = random.pick(wires);
      note('cut a wire');
      wire.cut();
      wire.heal();
    } else note(`kill ${kind} ${String(fleet.kill(kind, (count) => random.below(count)))}`);
  }
}

/** One thing after the other. */
async function standStillNowAndThen(
  { engine, fleet }: World,
  random: SeededRandom,
  { pauseMs, signal, note }: TroubleOptions,
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
    const end = begin();
    try {
      await passes(pauseMs, signal);
    } finally {
      end?.();
      note(`${name}, until now`);
    }
  }
}

/** Whether the time has passed before the signal. */
async function passes(ms: number, signal: AbortSignal): Promise<boolean> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
  return !signal.aborted;
}
