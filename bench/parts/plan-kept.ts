import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { commitOf } from '../harness/machine.ts';
import type { Options } from '../harness/options.ts';
import type { Checked } from './plan-cases.ts';

const lagged = z.object({ p50: z.number(), p99: z.number(), most: z.number(), mean: z.number() });
const lags = z.array(z.number());

const kept = z.object({
  size: z.string(),
  provenance: z.object({ commit: z.string() }),
  raw: z.object({
    checked: z.array(
      z.object({
        ...{ name: z.string(), actions: z.number(), deliveries: z.number() },
        ...{ measured: lagged, predicted: lagged, others: z.number() },
        cpu: z.object({ measured: z.number(), predicted: z.number() }).nullable(),
        lags: z.object({ measured: lags, predicted: lags }),
      }),
    ),
  }),
});

/**
 * Rounds measured earlier, so that rounds can be spread over quiet minutes.
 * @throws Error when they are of another commit or size.
 */
export function keptRounds({ out, size }: Pick<Options, 'out' | 'size'>): readonly Checked[] {
  const path = join(out, 'plan.json');
  if (!existsSync(path)) return [];
  const { provenance, raw, ...of } = kept.parse(JSON.parse(readFileSync(path, 'utf8')));
  if (provenance.commit !== commitOf() || of.size !== size)
    throw new Error(`${path} is of another commit or size: measure without --more, or elsewhere (--out)`);
  return raw.checked;
}
