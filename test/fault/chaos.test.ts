import { expect, test } from 'vitest';
import { IS_DEEP, SEED } from '../support/seed.ts';
import { runChaos } from './chaos/run.ts';

/**
 * In deep runs alone (`npm run test:deep -- chaos`): two minutes on each of these models. A short run takes minutes too,
 * most of them to start and stop its processes.
 * `FANFARE_CHAOS_SEEDS=1,2,3 FANFARE_CHAOS_MODELS=items,redis FANFARE_CHAOS_SECONDS=120` sets what is run.
 * With `FANFARE_CHAOS_JOURNAL` everything that was done is written to files whose names begin like this.
 */
const SEEDS = (process.env['FANFARE_CHAOS_SEEDS'] ?? String(SEED)).split(',').map(Number);
const MODELS = (process.env['FANFARE_CHAOS_MODELS'] ?? 'items,capped,redis,time-buckets').split(',');
const DURATION_MS = Number(process.env['FANFARE_CHAOS_SECONDS'] ?? 120) * 1_000;
const IS_ASKED_FOR = IS_DEEP || process.env['FANFARE_CHAOS_SEEDS'] !== undefined;
const JOURNAL = process.env['FANFARE_CHAOS_JOURNAL'] ?? null;
/** Longer than every lease and timeout, where there is time for it. */
const PAUSE_MS = Math.min(20_000, DURATION_MS / 4);
const SHOWN = 12;

for (const model of MODELS)
  test.runIf(IS_ASKED_FOR).each(SEEDS)(
    `feeds by ${model}, live lists and counters match the definition, whatever process died or hung, seed %i`,
    async (seed) => {
      const { differences, summary } = await runChaos({
        ...{ seed, model, durationMs: DURATION_MS, pauseMs: PAUSE_MS },
        journalFile: JOURNAL === null ? null : `${JOURNAL}-${model}-${String(seed)}.log`,
      });
      console.log(`Chaos on ${model}, seed ${String(seed)}: ${summary}`);
      expect(
        differences.slice(0, SHOWN),
        `${String(differences.length)} differences:\n${differences.slice(0, SHOWN).join('\n')}`,
      ).toEqual([]);
    },
    30 * 60_000,
  );
