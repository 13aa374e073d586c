import type { ActionId, UserId } from './action.ts';

const ACTION_MODERATION_KINDS = ['HIDE', 'UNHIDE', 'DELETE'] as const;
const INTERACTION_MODERATION_KINDS = ['HIDE_INTERACTION', 'UNHIDE_INTERACTION', 'EDIT_INTERACTION'] as const;
export const MODERATION_KINDS = [
  ...ACTION_MODERATION_KINDS,
  'EDIT',
  ...INTERACTION_MODERATION_KINDS,
] as const;
export type ActionModerationKind = (typeof ACTION_MODERATION_KINDS)[number];
export type InteractionModerationKind = (typeof INTERACTION_MODERATION_KINDS)[number];
export type ModerationKind = (typeof MODERATION_KINDS)[number];

export interface ModerationRecord {
  readonly id: string;
  readonly actionId: ActionId;
  /** The moderated interaction; `null`: the action itself was moderated. */
  readonly interactionId: string | null;
  readonly at: Date;
  readonly by: UserId;
  readonly kind: ModerationKind;
  readonly reason: string | null;
}
