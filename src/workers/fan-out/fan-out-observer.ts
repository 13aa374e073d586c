import { clock } from '../../lib/clock.ts';
import type { Claim } from '../../storage/fan-out/fan-outs.ts';

export interface FanOutObserver {
  /**
   * @param pass.isDone false: the action changed during the pass, and another pass follows.
   * @param pass.lagSeconds time since the action was recorded; `null`: not its first delivery, or it was withdrawn.
   */
  finished(
    claim: Claim,
    pass: {
      readonly delivered: number;
      readonly seconds: number;
      readonly isDone: boolean;
      readonly lagSeconds: number | null;
    },
  ): void;
  /** The action was hidden, shown again or deleted during the pass: another pass follows. */
  overtaken(claim: Claim): void;
  /** The lease expired and another worker has claimed the action. */
  leaseLost(claim: Claim): void;
  failed(claim: Claim, error: unknown, isFinal: boolean): void;
  /** The database did not answer; the worker keeps trying. */
  claimFailed(error: unknown): void;
}

/** Compares database times only: the API that recorded the action may run on a machine with another clock. */
export function lagOf({ action, isFirst }: Claim): number | null {
  if (!isFirst || action.isHidden || action.isDeleted) return null;
  return Math.max(0, clock.time() - action.recorded.getTime()) / 1_000;
}
