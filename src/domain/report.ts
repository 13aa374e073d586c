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
  readonly reason: string;
  readonly text: string | null;
}

/** All that members have reported of one thing. */
export interface Report {
  readonly id: string;
  readonly target: ReportTarget;
  readonly state: ReportState;
  readonly reports: readonly Reported[];
  readonly open: number;
  readonly openedAt: Date;
  readonly isWithheld: boolean;
  readonly takenBy: UserId | null;
  readonly resolvedBy: UserId | null;
  readonly resolvedAt: Date | null;
  readonly outcome: string | null;
}
