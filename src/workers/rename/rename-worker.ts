import type { Context } from '../../feeds/context.ts';
import { NAME_SOURCES, type RenameClaim } from '../../storage/directory/renames.ts';
import { BackgroundWorker, type BackgroundWorkerOptions } from '../background-worker.ts';
import { LaneGate } from '../fan-out/lane-gate.ts';
import { clock } from '../../lib/clock.ts';

const FIRST_BACKOFF_MS = 200;
/** A rename is retried for ever: nobody else would finish it. */
const MAX_BACKOFF_MS = 60_000;

const IN_BULK = { lane: 'BULK', kind: 'rename' } as const;

export interface RenameObserver {
  /** @param actions number of actions that had an older name. */
  carried(claim: RenameClaim, actions: number, seconds: number): void;
  failed(claim: RenameClaim, error: unknown): void;
  claimFailed(error: unknown): void;
}

export interface RenameWorkerOptions extends BackgroundWorkerOptions {
  readonly observer: RenameObserver;
  /** Shared with other background work of the process. Default: a gate of its own. */
  readonly gate?: LaneGate;
  /** Unique among all workers. */
  readonly workerId: string;
  readonly leaseMs: number;
  /** Actions per write. The lease is renewed between writes. */
  readonly batchSize: number;
}

/**
 * Updates copies of changed names, one name at a time, in any number of processes. Level-triggered: writes the current name
 * until no action has an older one; a change meanwhile leads to one more pass. An interrupted worker loses nothing, and a
 * late one never overwrites a newer name. Polls without a signal: reads show a new name at once anyway, and the work signal
 * fires for every action.
 */
export class RenameWorker extends BackgroundWorker {
  readonly #context: Context;
  readonly #options: RenameWorkerOptions;
  readonly #gate: LaneGate;
  #claims = 0;

  constructor(context: Context, options: RenameWorkerOptions) {
    super(options);
    this.#context = context;
    this.#options = options;
    this.#gate = options.gate ?? new LaneGate();
  }

  protected override async work(): Promise<boolean> {
    const { renames } = this.#context;
    const { workerId, leaseMs, batchSize } = this.#options;
    let settled = 0;
    for (const source of NAME_SOURCES) settled += await renames.settleFirst(source, clock.now(), batchSize);
    const claim = await renames.claim(`${workerId}#${String(++this.#claims)}`, clock.now(), leaseMs);
    if (claim !== null) await this.#run(claim);
    return settled > 0 || claim !== null;
  }

  protected override failed(error: unknown): void {
    this.#options.observer.claimFailed(error);
  }

  async #run(claim: RenameClaim): Promise<void> {
    const { renames } = this.#context;
    const { observer } = this.#options;
    const startedAt = performance.now();
    try {
      const actions = await this.#carry(claim);
      if (actions !== null && (await renames.finish(claim)))
        observer.carried(claim, actions, (performance.now() - startedAt) / 1_000);
      else await renames.release(claim, clock.now(), null);
    } catch (error) {
      observer.failed(claim, error);
      const backoffMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (claim.attempts - 1));
      const reason = error instanceof Error ? error.message : String(error);
      await renames.release(claim, new Date(clock.time() + backoffMs), reason);
    }
  }

  /** Writes until no action has an older name. Returns the number of updated actions; `null` when interrupted. */
  async #carry(claim: RenameClaim): Promise<number | null> {
    const { renames } = this.#context;
    const { batchSize, leaseMs } = this.#options;
    const name = await renames.current(claim.id);
    let actions = 0;
    for (;;) {
      const found =
        name === null ? 0 : await this.#gate.run(IN_BULK, () => renames.carry(claim.id, name, batchSize));
      if (found === 0) return actions;
      actions += found;
      if (this.isStopping || !(await renames.renew(claim, new Date(clock.time() + leaseMs)))) return null;
    }
  }
}
