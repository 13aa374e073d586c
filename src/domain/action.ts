import type { Lane } from './lane.ts';

/** The 24 hex digits of an action's ObjectId. Later actions of one process compare higher. */
export type ActionId = string;
/** The host application's own id of a person. */
export type UserId = string;
/** The host application's own id of anything that can be referred to and followed. */
export type RefId = string;

export const SCOPES = ['TEAM', 'DEPARTMENT', 'RESTRICTED', 'FOLLOWERS', 'PUBLIC'] as const;
export type Scope = (typeof SCOPES)[number];

export const FAN_OUT_STATES = ['PENDING', 'IN_PROGRESS', 'DONE', 'FAILED'] as const;
export type FanOutState = (typeof FAN_OUT_STATES)[number];

/** A reference from an action to a thing, with the label it had when the action was recorded. */
export interface ActionRef {
  readonly id: RefId;
  readonly type: string;
  readonly label: string;
}

/** The typed, denormalised body of an action. Its further fields depend on `type`; see descriptors/. */
export interface StoredDescriptor {
  readonly type: string;
  readonly tags: readonly string[];
  readonly [field: string]: unknown;
}

/** Goes by what is visible: neither removed nor hidden. */
export interface Engagement {
  readonly comments: number;
  readonly likes: number;
  readonly reshares: number;
  /** Those that somebody gave, the most frequent first. */
  readonly reactions: readonly ReactionCount[];
  readonly lastInteraction: Date | null;
}

export interface ReactionCount {
  readonly reaction: string;
  readonly count: number;
}

export interface FanOut {
  readonly state: FanOutState;
  /** Raised by every change of the action that feeds have to follow. */
  readonly version: number;
  readonly attempts: number;
  /** The most urgent of what is pending. */
  readonly lane: Lane;
  /** Readers who hold the action, counted once each. */
  readonly delivered: number;
  readonly error: string | null;
  /** While interactions keep it from rest: the version of the last pass that came to its end. Everything but they is in it. */
  readonly deliveredVersion?: number;
  /** Of the last change that asked for a pass, where that was traced: a W3C traceparent, and when. */
  readonly trace?: { readonly parent: string; readonly at: Date };
}

/** A fan-out that goes on only for interactions is DONE, or an action that people react to all the time would never be. */
export function reportedFanOut({
  state,
  version,
  deliveredVersion,
}: FanOut): Pick<FanOut, 'state' | 'version'> {
  const isOpen = state === 'PENDING' || state === 'IN_PROGRESS';
  return isOpen && deliveredVersion !== undefined
    ? { state: 'DONE', version: deliveredVersion }
    : { state, version };
}

/** Whom an action concerns for what it says of them, by a key of its audience. */
export interface ConcernedKey {
  readonly key: string;
  /** By an edit, from then on; null: since it was published. */
  readonly since: Date | null;
}

/** Most reshares of an action that bring it to followers: the newest. */
export const MAX_RESHARES = 100;

/** Somebody passed an action on to their followers. */
export interface Reshare {
  readonly by: UserId;
  /** When the server recorded it, in milliseconds. Follow spans are measured by this. */
  readonly at: Date;
}

/** Something that happened. Stored once; feeds refer to it. */
export interface Action {
  readonly id: ActionId;
  readonly actorId: UserId;
  /** When it happened, as the application says. */
  readonly conducted: Date;
  /** When the server recorded it, in milliseconds. Follow spans and memberships are measured by this. */
  readonly recorded: Date;
  readonly idempotencyKey: string | null;
  /** Names this state of it: another one after every change but those of `fanOut`. Absent: a release before wrote it. */
  readonly rev?: number;
  readonly scope: Scope;
  /** Audience keys: `team:42`, `department:7`, `user:9`, `followers`, `public`. */
  readonly audience: readonly string[];
  readonly mentions: readonly UserId[];
  /** Readers of a RESTRICTED action; empty for other scopes. */
  readonly recipients: readonly UserId[];
  readonly refs: readonly ActionRef[];
  /** Ids of the refs and of the actor, each once. */
  readonly refIds: readonly RefId[];
  readonly descriptor: StoredDescriptor;
  /** What it has in common with those it is shown with, as it was when it was recorded or edited. Null: it is shown alone. */
  readonly groupKey: string | null;
  /** Raised by every edit; 1 as it was published. */
  readonly version: number;
  readonly editedAt: Date | null;
  /** Raised by every edit of whom it is addressed to. Above 0 no reason is trusted that was stored for it. */
  readonly audienceRev: number;
  /** Everybody it names, or ever named; null: whom it names, since it was published. */
  readonly concerned: readonly ConcernedKey[] | null;
  readonly engagement: Engagement;
  /** From then on it counts as deleted. Null: it stays. */
  readonly expiresAt: Date | null;
  readonly isHidden: boolean;
  /** It was deleted, or has expired by now: what is kept in memory changes with the clock. */
  readonly isDeleted: boolean;
  /** Refs too big to push to; their followers pull the action when they read. */
  readonly pullRefIds: readonly RefId[];
  /** Who has passed it on, the newest first: at most 100, of what is visible. They bring it to followers while it is PUBLIC. */
  readonly reshares: readonly Reshare[];
  /** Somebody has interacted with it, whether that is visible now or not: lifts go by all of it. */
  readonly isBumped: boolean;
  /** The newest of conducted and its interactions: no reader's relevancy is above it. */
  readonly latest: Date;
  readonly fanOut: FanOut;
}
