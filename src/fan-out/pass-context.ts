import type { Context } from '../feed/context.ts';
import type { UserId } from '../domain/action.ts';
import type { InteractionGroup } from '../domain/relevancy.ts';
import type { Claim } from './store/fan-out-claim.ts';
import type { LaneGate } from './lane-gate.ts';

/** A claim with all that lifts its action. */
export interface LiftedClaim {
  readonly claim: Claim;
  readonly interactions: readonly InteractionGroup[];
}

/** The context of a pass. */
export interface PassContext extends Context {
  /** The readers who can be skipped; see `audience.ts`. */
  readonly skipDormant: (userIds: readonly UserId[]) => Promise<ReadonlySet<UserId>>;
  /** Returns a number from 0 to 1. */
  readonly random: () => number;
  readonly chunkSize: number;
  readonly leaseMs: number;
  /** Decides which chunk runs next. */
  readonly gate: LaneGate;
}
