import type { ActionId, UserId } from './action.ts';

export const MODERATION_KINDS = ['HIDE', 'UNHIDE', 'DELETE'] as const;
export type ModerationKind = (typeof MODERATION_KINDS)[number];

/** Who did what to an action, when and why. */
export interface ModerationRecord {
  readonly id: string;
  readonly actionId: ActionId;
  readonly at: Date;
  readonly by: UserId;
  readonly kind: ModerationKind;
  readonly reason: string | null;
}
