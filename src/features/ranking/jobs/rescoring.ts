import {
  actionScore,
  generationAt,
  RANKED_FOR_MS,
  rankedSince,
  RESCORE_EVERY_MS,
} from '../../../domain/ranking.ts';
import { clock } from '../../../lib/clock.ts';
import { newObjectId } from '../../../storage/database/mongo.ts';
import { GENERATIONS_KEPT } from '../../../domain/ranking.ts';
import { recordShownHours } from './shown-hours.ts';
import { logRescored } from '../../../telemetry/events.ts';
import type { Job, JobSetup, Round } from '../../../jobs/job.ts';

/** Older scores belong to no stored generation. */
const KEPT_FOR_MS = RANKED_FOR_MS + GENERATIONS_KEPT * RESCORE_EVERY_MS;

/** What a reader was shown a week ago counts for a hundredth. */
const IMPRESSIONS_KEPT_MS = 7 * 24 * 3_600_000;

/**
 * Computes the scores of a generation, one process at a time. If it dies or fails, the next one does the rest when the lease
 * expires; two that overlap do the same work without harm.
 */
export function rescoring({ core, config, logger }: JobSetup): Job {
  const { scores, rankedActions, ranking, impressions } = core;
  const { leaseMs } = config.fanOut;
  return {
    name: 'scoring',
    every: 10_000,
    async run({ now, signal }) {
      const generation = generationAt(now);
      const startedAt = performance.now();
      const token = newObjectId();
      if (!(await scores.claim(generation, { token, now, leaseMs }))) return false;
      const actions = await rescore(generation, token, signal);
      const seconds = (performance.now() - startedAt) / 1_000;
      if (actions !== null) logRescored(logger, { generation: generation.toISOString(), actions, seconds });
      return false;
    },
  };

  /** Number of scored actions in the generation; `null` when interrupted. */
  async function rescore(generation: Date, token: string, signal: Round['signal']): Promise<number | null> {
    let count = 0;
    const before = await scores.current();
    for await (const actions of rankedActions.conductedSince(rankedSince(generation))) {
      const entries = actions.map((action) => ({
        actionId: action.id,
        score: actionScore(action, generation, ranking),
        counts: action.counts,
      }));
      await scores.put(entries, generation);
      count += entries.length;
      const until = new Date(clock.time() + (signal.aborted ? 0 : leaseMs));
      if (!(await scores.renew(token, until)) || signal.aborted) return null;
    }
    if (config.events.retentionMs !== null && core.keepsImpressions)
      await recordShownHours(core, before, generation);
    await scores.finish(generation);
    await scores.purgeBefore(new Date(generation.getTime() - KEPT_FOR_MS));
    // Also while none are kept: there may be some of before.
    await impressions.purgeBefore(new Date(generation.getTime() - IMPRESSIONS_KEPT_MS));
    return count;
  }
}
