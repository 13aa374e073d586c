import type { ActionId, UserId } from './action.ts';
import type { InteractionId } from './interaction.ts';

export type ReportState = 'OPEN' | 'TAKEN' | 'RESOLVED' | 'DISMISSED';

/** Reports of one thing that are stored; further ones change nothing. */
export const MAX_REPORTERS = 500;

export type ReportTarget =
  | { readonly kind: 'action'; readonly actionId: ActionId; readonly actorId: UserId }
  | {
      readonly kind: 'interaction';
      readonly interactionId: InteractionId;
      readonly actionId: ActionId;
      readonly actorId: UserId;
    }
  | { readonly kind: 'member'; readonly actorId: UserId };

export interface Reported {
  readonly by: UserId;
  readonly at: Date;
  /** The reported version: it rises with every edit. */
  readonly version: number;
  readonly reason: string;
  readonly text: string | null;
}

/** Whether what is reported is shown. WITHHELD: not until somebody has looked. HIDDEN: not any more. */
export type Verdict = 'WITHHELD' | 'SHOWN' | 'HIDDEN';

/**
 * A decision of the queue about what is in it. The decision is the write of the report; what it decides about follows, and
 * takes no ruling with a lower number than it has: so the last decision holds, in whatever order they arrive.
 */
export interface Ruling {
  readonly number: number;
  readonly verdict: Verdict;
  /** It may not have been carried out yet. */
  readonly isDue: boolean;
}

/** All that members have reported of one thing. */
export interface Report {
  readonly id: string;
  readonly target: ReportTarget;
  readonly state: ReportState;
  readonly reports: readonly Reported[];
  readonly open: number;
  readonly openedAt: Date;
  /** It is hidden until somebody has looked: reported by many, or held by the host application. */
  readonly isWithheld: boolean;
  /** `null`: nothing was ever hidden because of it. */
  readonly ruling: Ruling | null;
  readonly takenBy: UserId | null;
  readonly resolvedBy: UserId | null;
  readonly resolvedAt: Date | null;
  readonly outcome: string | null;
}
