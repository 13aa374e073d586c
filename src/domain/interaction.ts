import type { ActionId, UserId } from './action.ts';
import type { InteractionKind } from './relevancy.ts';

/** The 24 hex digits of an interaction's ObjectId. */
export type InteractionId = string;

/** Rises with every edit. */
export function interactionVersion({ editedAt }: Pick<Interaction, 'editedAt'>): number {
  return editedAt?.getTime() ?? 0;
}

/** HIDDEN: visible to admins only. REMOVED: visible to nobody. */
export type InteractionState = 'VISIBLE' | 'REMOVED' | 'HIDDEN';

export const DEFAULT_REACTIONS = ['👍', '❤️', '🎉', '😂', '😕', '👀'] as const;

/** Maximum length of a comment, in characters. */
export const MAX_COMMENT_LENGTH = 10_000;
/** Maximum size of an interaction's free data, in bytes of JSON. */
export const MAX_INTERACTION_DATA_BYTES = 4_096;

/** A pass that finds a change which is on its way for longer does not wait for it to correct the counts. */
export const ON_ITS_WAY_MS = 5_000;

/** A call that takes longer to follow up its change counts as interrupted. Its later writes do no harm. */
export const ABANDONED_AFTER_MS = 60_000;

/** Maximum number of members that a comment mentions. */
export const MAX_MENTIONS = 20;

/** One member's interaction with an action. */
export interface Interaction {
  readonly id: InteractionId;
  readonly actionId: ActionId;
  readonly kind: InteractionKind;
  readonly actorId: UserId;
  readonly at: Date;
  readonly editedAt: Date | null;
  /** Set for comments. */
  readonly text: string | null;
  /** Set for the kind REACTION. */
  readonly reaction: string | null;
  /** For a reply: the comment it replies to. */
  readonly parentId: InteractionId | null;
  /** Free data of the application; `null` when there is none. */
  readonly data: unknown;
  readonly state: InteractionState;
  /** The members it concerns besides the action's actor: the author of the comment it replies to, and members it mentions. */
  readonly to: readonly UserId[];
  /** For a reshare of an action that was PUBLIC then: its server time. The resharer's followers receive the action. */
  readonly passedOn: Date | null;
}

/** One member's visible interactions with one action. */
export interface OwnInteractions {
  readonly actionId: ActionId;
  readonly kinds: ReadonlySet<InteractionKind>;
  readonly reactions: readonly string[];
}

export interface InteractionIdentity {
  readonly kind: InteractionKind;
  readonly actorId: UserId;
  readonly reaction: string | null;
  readonly idempotencyKey: string | null;
}

/** Kinds that a member gives at most once per action (and reaction) and can take back. */
export function isToggle(kind: InteractionKind): boolean {
  return kind !== 'COMMENT';
}

/**
 * Key that makes recording an interaction idempotent. It starts with actor and kind, so that an idempotency key cannot
 * collide with a kind. `null`: every call records a new interaction.
 */
export function interactionKey({
  kind,
  actorId,
  reaction,
  idempotencyKey,
}: InteractionIdentity): string | null {
  if (kind === 'REACTION') return JSON.stringify([actorId, kind, reaction]);
  if (isToggle(kind)) return JSON.stringify([actorId, kind]);
  return idempotencyKey === null ? null : JSON.stringify([actorId, kind, idempotencyKey]);
}

/** Whether a reader who may see the action may see the interaction. */
export function isShown({ state }: Interaction, isAdmin: boolean): boolean {
  return state === 'VISIBLE' || (state === 'HIDDEN' && isAdmin);
}
