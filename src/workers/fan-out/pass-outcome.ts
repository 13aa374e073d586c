import type { UserId } from '../../domain/action.ts';

/** Everybody in the audience up to this reader has been served. */
export interface Reached {
  readonly afterUserId: UserId;
  readonly delivered: number;
}

export type PassOutcome =
  | { readonly kind: 'complete'; readonly delivered: number }
  /** The claim is void: lost, or the action has changed. Writes made until then remain. */
  | { readonly kind: 'void'; readonly reached: Reached | null }
  /** Stopped between two chunks on request; a later pass continues from the checkpoint. */
  | { readonly kind: 'stopped' };
