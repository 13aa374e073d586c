import type { UserId } from '../../domain/action.ts';
import type { Claim } from '../../storage/fan-out/fan-outs.ts';
import type { Fence } from './fence.ts';
import type { Reached } from './pass-outcome.ts';

/** Progress of a pass in audience order, and whether it must end early. */
export class PassProgress {
  readonly #fence: Fence;
  #delivered: number;
  #lane: Claim['lane'];
  #reached: Reached | null = null;
  #isVoid = false;
  #isStopped = false;
  #hasGap = false;

  constructor({ delivered, lane }: Claim, fence: Fence) {
    this.#delivered = delivered;
    this.#lane = lane;
    this.#fence = fence;
  }

  get delivered(): number {
    return this.#delivered;
  }

  /** Lane of the next chunk, which may change during the pass. */
  get lane(): Claim['lane'] {
    return this.#lane;
  }

  /** The last checkpoint of this pass. */
  get reached(): Reached | null {
    return this.#reached;
  }

  /** Another worker has the action. */
  get isVoid(): boolean {
    return this.#isVoid;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  isStopping(): boolean {
    this.#isStopped ||= this.#fence.isStopping();
    return this.#isStopped;
  }

  async mayGoOn(): Promise<boolean> {
    this.#isVoid ||= !(await this.#fence.isHeld());
    return !this.isStopping() && !this.#isVoid;
  }

  /**
   * Counts a chunk; after the first skipped chunk, none counts.
   * @param delivered `null`: the chunk was skipped
   * @param last its last reader; undefined: it needs no checkpoint
   * @returns where to set a checkpoint
   */
  add(delivered: number | null, last: UserId | undefined): Reached | null {
    this.#hasGap ||= delivered === null;
    if (this.#hasGap) return null;
    this.#delivered += delivered ?? 0;
    if (this.#isVoid || last === undefined) return null;
    this.#reached = { afterUserId: last, delivered: this.#delivered };
    return this.#reached;
  }

  /** @param lane of the action at its checkpoint; `null`: the claim is void. */
  goOnIn(lane: Claim['lane'] | null): void {
    if (lane === null) this.#isVoid = true;
    else this.#lane = lane;
  }
}
