import type { Boost } from './relevancy.ts';
import type { AddressedBy } from './visibility.ts';
import type { StateEnded } from './item-states.ts';

/** How an item got into a feed. */
export type FeedPath = 'STORED' | 'PULLED' | 'SOURCE' | 'NONE';

export interface RelevancyCause {
  readonly kind: Boost['kind'] | 'CONDUCTED' | StateEnded;
  readonly at: Date;
  readonly liftedTo: Date;
}

/** @typeParam Rule names of the rules of feeds */
export interface FeedItemExplanation<Rule extends string = string> {
  readonly isInFeed: boolean;
  readonly isEntitled: boolean;
  readonly addressedBy: readonly AddressedBy[];
  readonly withheldBy: readonly (Rule | 'NOT_ENTITLED')[];
  /** Conditions of the view that it does not meet. */
  readonly leftOutBy: readonly string[];
  readonly relevancy: Date | null;
  readonly causes: readonly RelevancyCause[];
  readonly path: FeedPath;
  readonly score: number | null;
  readonly scoreVars: unknown;
}
