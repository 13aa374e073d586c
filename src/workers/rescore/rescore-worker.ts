import type { Context } from '../../feeds/context.ts';
import {
  actionScore,
  generationAt,
  RANKED_FOR_MS,
  rankedSince,
  RESCORE_EVERY_MS,
} from '../../domain/ranking.ts';
import { GENERATIONS_KEPT } from '../../storage/actions/scores.ts';
import { BackgroundWorker } from '../background-worker.ts';
import { clock } from '../../lib/clock.ts';

export interface RescoreObserver {
  rescored(generation: Date, actions: number, seconds: number): void;
  /** The generation stays due and is retried when its lease expires. */
  failed(error: unknown): void;
}

export interface RescoreOptions {
  readonly observer: RescoreObserver;
  readonly leaseMs: number;
  readonly pollMs: number;
}

/** One process at a time. If it dies, the next one does the rest; two that overlap do the same work without harm. */
export class RescoreWorker extends BackgroundWorker {
  readonly #context: Context;
  readonly #options: RescoreOptions;

  constructor(context: Context, options: RescoreOptions) {
    super(options);
    this.#context = context;
    this.#options = options;
  }

  protected override async work(): Promise<boolean> {
    await this.round(clock.now());
    return false;
  }

  protected override failed(error: unknown): void {
    this.#options.observer.failed(error);
  }

  /** Computes the generation due at this time, if any and nobody else has claimed it. */
  async round(now: Date): Promise<void> {
    const { scores } = this.#context;
    const { observer } = this.#options;
    const generation = generationAt(now);
    const startedAt = performance.now();
    if (!(await scores.claim(generation, now, this.#options.leaseMs))) return;
    const actions = await this.#rescore(generation);
    if (actions !== null) observer.rescored(generation, actions, (performance.now() - startedAt) / 1_000);
  }

  /** Number of scored actions in the generation; `null` when interrupted. */
  async #rescore(generation: Date): Promise<number | null> {
    const { scores, rankedActions, ranking } = this.#context;
    let count = 0;
    for await (const actions of rankedActions.conductedSince(rankedSince(generation))) {
      const entries = actions.map((action) => ({
        actionId: action.id,
        score: actionScore(action, generation, ranking),
      }));
      await scores.put(entries, generation);
      count += entries.length;
      if (this.isStopping) {
        await scores.renew(clock.now());
        return null;
      }
      await scores.renew(new Date(clock.time() + this.#options.leaseMs));
    }
    await scores.finish(generation);
    await scores.purgeBefore(new Date(generation.getTime() - KEPT_FOR_MS));
    return count;
  }
}

/** Older scores belong to no stored generation. */
const KEPT_FOR_MS = RANKED_FOR_MS + GENERATIONS_KEPT * RESCORE_EVERY_MS;
