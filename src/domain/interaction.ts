import type { ActionId, UserId } from './action.ts';
import type { InteractionKind } from './relevancy.ts';

/** The 24 hex digits of an interaction's ObjectId. */
export type InteractionId = string;

/** HIDDEN: for admins only. REMOVED: for nobody. */
export const INTERACTION_STATES = ['VISIBLE', 'REMOVED', 'HIDDEN'] as const;
export type InteractionState = (typeof INTERACTION_STATES)[number];

export const DEFAULT_REACTIONS = ['👍', '❤️', '🎉', '😂', '😕', '👀'] as const;

/** Longest text of a comment, in characters. */
export const MAX_COMMENT_LENGTH = 10_000;
/** Most bytes of free data of an interaction, as JSON. */
export const MAX_INTERACTION_DATA_BYTES = 4_096;

/** What somebody did with an action. */
export interface Interaction {
  readonly id: InteractionId;
  readonly actionId: ActionId;
  readonly kind: InteractionKind;
  readonly actorId: UserId;
  readonly at: Date;
  readonly editedAt: Date | null;
  /** Of a comment. */
  readonly text: string | null;
  /** Of a REACTION. */
  readonly reaction: string | null;
  /** The comment that a comment replies to. */
  readonly parentId: InteractionId | null;
  /** Free data of the application; null where there is none. */
  readonly data: unknown;
  readonly state: InteractionState;
  /** Of a reshare of what was PUBLIC then: when the server recorded it, in milliseconds. It passes the action on to followers. */
  readonly passedOn: Date | null;
}

/** What one member did with one action, as far as it is visible. */
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

/** The kinds of which a member has one for each action and reaction, given and taken back. */
export function isToggle(kind: InteractionKind): boolean {
  return kind !== 'COMMENT';
}

/**
 * The key under which an interaction is recorded once. It begins with actor and kind, so that no idempotency key is taken
 * for a kind. Null: nothing tells it from others, and it is recorded each time.
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

/** Whether somebody may see it who may see its action. */
export function isShown({ state }: Pick<Interaction, 'state'>, isAdmin: boolean): boolean {
  return state === 'VISIBLE' || (state === 'HIDDEN' && isAdmin);
}
