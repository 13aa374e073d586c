import type { Boost } from './relevancy.ts';
import type { AddressedBy } from './visibility.ts';
import { rowOf, STATE_NAMES, type StateEnded, type StateReason } from './item-states.ts';

export const WITHHELD_REASONS = [
  'HIDDEN',
  'MUTED',
  'BLOCKED',
  ...STATE_NAMES.map((state) => rowOf(state).withheld[0] as StateReason),
  'NOT_ADDRESSED',
  'NOT_ENTITLED',
] as const;
export type WithheldReason = (typeof WITHHELD_REASONS)[number];

/** How an item got into a feed. */
export type FeedPath = 'STORED' | 'PULLED' | 'SOURCE' | 'NONE';

export interface RelevancyCause {
  readonly kind: Boost['kind'] | 'CONDUCTED' | StateEnded;
  readonly at: Date;
  readonly liftedTo: Date;
}

export interface FeedItemExplanation {
  readonly isInFeed: boolean;
  readonly isEntitled: boolean;
  readonly addressedBy: readonly AddressedBy[];
  readonly withheldBy: readonly WithheldReason[];
  /** Conditions of the view that it does not meet. */
  readonly leftOutBy: readonly string[];
  readonly relevancy: Date | null;
  readonly causes: readonly RelevancyCause[];
  readonly path: FeedPath;
  readonly score: number | null;
  readonly scoreVars: unknown;
}
