import type { Lane } from './lane.ts';

export type ActionModerationKind = 'HIDE' | 'UNHIDE' | 'DELETE';
export type InteractionModerationKind = 'HIDE_INTERACTION' | 'UNHIDE_INTERACTION' | 'EDIT_INTERACTION';
export type ModerationKind = ActionModerationKind | 'EDIT' | InteractionModerationKind;

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

/** Upper bound on refs that an action is given; those in its descriptor come on top. */
export const MAX_REFS = 100;

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

/** Counts visible interactions only: neither removed nor hidden ones. */
export interface Engagement {
  readonly comments: number;
  readonly likes: number;
  readonly reshares: number;
  /** Reactions with at least one giver, most frequent first. */
  readonly reactions: readonly ReactionCount[];
  readonly lastInteraction: Date | null;
}

export interface ReactionCount {
  readonly reaction: string;
  readonly count: number;
}

export interface FanOut {
  readonly state: FanOutState;
  /** Incremented by every change of the action that feeds must pick up. */
  readonly version: number;
  readonly attempts: number;
  /** The most urgent lane among the pending changes. */
  readonly lane: Lane;
  /** Number of readers whose feed has the action. */
  readonly delivered: number;
  readonly error: string | null;
  /** Version of the last finished pass, set while only interactions keep the fan-out going. Feeds have everything else. */
  readonly deliveredVersion?: number;
  /** Trace of the last change that requested a pass, if that change was traced: a W3C traceparent and its time. */
  readonly trace?: { readonly parent: string; readonly at: Date };
}

/** Reports DONE while only interactions are pending: a popular action would otherwise never be DONE. */
export function reportedFanOut({ state, version, deliveredVersion }: FanOut): {
  readonly state: FanOutState;
  readonly version: number;
} {
  const isOpen = state === 'PENDING' || state === 'IN_PROGRESS';
  return isOpen && deliveredVersion !== undefined
    ? { state: 'DONE', version: deliveredVersion }
    : { state, version };
}

/** Audience key of a reader whom the content of an action concerns. */
export interface ConcernedKey {
  readonly key: string;
  /** Set when an edit added the key. `null`: concerned since publication. */
  readonly since: Date | null;
}

/** Audience key of a reader whom the content of an action concerned until an edit. */
export interface FormerlyConcernedKey {
  readonly key: string;
  /** Time of the latest interaction before that edit: the item keeps the position that it has by it. */
  readonly until: Date;
}

/** Upper bound on the reshares that carry an action to followers; the newest ones count. */
export const MAX_RESHARES = 100;

/** One member's reshare of an action to their followers. */
export interface Reshare {
  readonly by: UserId;
  /** Server time of the reshare, in milliseconds. Follow spans are compared with it. */
  readonly at: Date;
}

/** The parts of an action that carry texts and names. */
export interface ActionTexts {
  readonly refs: readonly ActionRef[];
  readonly descriptor: StoredDescriptor;
  /** Ids in it that stay without a name, as `isUnnamed` says. Absent: none. */
  readonly unnamed?: readonly string[];
}

/** Something that happened. Stored once; feeds refer to it. */
export interface Action {
  readonly id: ActionId;
  readonly actorId: UserId;
  /** Event time, given by the application. */
  readonly conducted: Date;
  /** Server time of the publication, in milliseconds. Follow spans and memberships are compared with it. */
  readonly recorded: Date;
  readonly idempotencyKey: string | null;
  /** Revision: changes with every write except those of `fanOut`. */
  readonly rev: number;
  readonly scope: Scope;
  /** Audience keys: `team:42`, `department:7`, `user:9`, `followers`, `public`. */
  readonly audience: readonly string[];
  readonly mentions: readonly UserId[];
  /** Readers of a RESTRICTED action; empty for other scopes. */
  readonly recipients: readonly UserId[];
  readonly refs: readonly ActionRef[];
  /** Number of refs that were given: the first ones. `null`: those that the descriptor does not name. */
  readonly givenRefs: number | null;
  /** Ids of the refs and of the actor, each once. */
  readonly refIds: readonly RefId[];
  readonly descriptor: StoredDescriptor;
  /** Ids in it that stay without a name, as `isUnnamed` says. Absent: none. */
  readonly unnamed?: readonly string[];
  /** Actions with the same key are shown as one group. Set at publication or by an edit. `null`: never grouped. */
  readonly groupKey: string | null;
  /** Incremented by every edit; 1 at publication. */
  readonly version: number;
  readonly editedAt: Date | null;
  /** Incremented by every edit of the audience. Above 0, reasons stored in feeds are not trusted. */
  readonly audienceRev: number;
  /** Everybody the action concerns. `null`: exactly those it names, since publication. */
  readonly concerned: readonly ConcernedKey[] | null;
  /** Members whom edits no longer name, or did not for a while, if there were interactions until then. */
  readonly formerlyConcerned: readonly FormerlyConcernedKey[];
  readonly engagement: Engagement;
  /** Incremented by every change of its comments. */
  readonly commentsVersion: number;
  /** The action counts as deleted from this time. `null`: never expires. */
  readonly expiresAt: Date | null;
  readonly isHidden: boolean;
  /** When a moderator showed it, or showed it again. Absent: it was never hidden, or still is for the first time. */
  readonly shownAt?: Date;
  /** When it is to be published: it counts as deleted until then. Absent: it is published. */
  readonly publishAt?: Date;
  /** Deleted, or expired by now: the value of a cached action changes as time passes. */
  readonly isDeleted: boolean;
  /** Refs with too many followers to push to: their followers pull the action when they read. */
  readonly pullRefIds: readonly RefId[];
  /** Visible reshares, newest first, at most 100. While the action is PUBLIC they bring it to the resharers' followers. */
  readonly reshares: readonly Reshare[];
  /** Has at least one interaction, visible or not, or was shown after it was hidden. Boosts count all interactions. */
  readonly isBumped: boolean;
  /** Latest of `conducted` and all interactions: an upper bound of every reader's relevancy. */
  readonly latest: Date;
  readonly fanOut: FanOut;
}
