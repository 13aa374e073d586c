import type { Instant, NotificationKind, Scope, UnreadCount } from './types.ts';

export type InteractionKind = 'COMMENT' | 'LIKE' | 'RESHARE' | 'REACTION';

export interface ReactionCount {
  readonly reaction: string;
  readonly count: number;
}

/** What of an action changes while it is shown. */
export interface ActionState {
  readonly id: string;
  readonly isHidden: boolean;
  /** Another number after every change of its comments. */
  readonly commentsVersion: number;
  readonly engagement: {
    readonly comments: number;
    readonly likes: number;
    readonly reshares: number;
    readonly lastInteraction: Instant | null;
    readonly reactions: readonly ReactionCount[];
  };
  /** What the reader has done with it and may do. */
  readonly viewer: {
    readonly hasLiked: boolean;
    readonly hasCommented: boolean;
    readonly hasReshared: boolean;
    readonly isBookmarked: boolean;
    readonly reactions: readonly string[];
    readonly canDelete: boolean;
    readonly canEdit: boolean;
  };
}

export interface Interaction {
  readonly id: string;
  readonly kind: InteractionKind;
  readonly at: Instant;
  readonly editedAt: Instant | null;
  readonly text: string | null;
  readonly reaction: string | null;
  /** Of a reply: the comment it replies to. */
  readonly parentId: string | null;
  readonly state: 'VISIBLE' | 'HIDDEN' | 'REMOVED';
  readonly actor: { readonly memberId: string; readonly name: string };
}

export interface InteractionChange {
  /** Nothing was changed: it was so before. */
  readonly isReplay: boolean;
  readonly interaction: Interaction | null;
  readonly action: ActionState;
}

export interface AddInteractionInput {
  readonly actionId: string;
  readonly kind: InteractionKind;
  /** Of a COMMENT. */
  readonly text?: string;
  /** Of a REACTION. */
  readonly reaction?: string;
  /** Of a COMMENT: the comment it replies to. */
  readonly parentId?: string;
  /** The same key a second time changes nothing. */
  readonly idempotencyKey?: string;
  readonly data?: unknown;
}

/** One of the two: an interaction by its id, or one's own. */
export type RemoveInteractionInput =
  | { readonly id: string }
  | {
      readonly own: {
        readonly actionId: string;
        readonly kind: InteractionKind;
        readonly reaction?: string;
      };
    };

export interface RefInput {
  readonly type: string;
  readonly id: string;
  readonly label: string;
}

export interface PublishActionInput {
  /** One of the types by its name, such as `{ custom: { verb, objectType, objectId } }`. */
  readonly descriptor: Readonly<Record<string, unknown>>;
  readonly scope?: Scope;
  readonly actorId?: string;
  readonly conducted?: Instant;
  readonly expiresAt?: Instant;
  readonly idempotencyKey?: string;
  readonly mentions?: readonly string[];
  readonly recipients?: readonly string[];
  readonly refs?: readonly RefInput[];
}

/** One of them. */
export interface MuteTarget {
  readonly memberId?: string;
  readonly refId?: string;
  readonly type?: string;
  readonly phrase?: string;
}

export interface FollowState {
  readonly refId: string;
  readonly isFollowed: boolean;
  readonly followerCount: number;
}

export type Channel = 'IN_APP' | 'EMAIL' | 'PUSH';

/** Whether the reader is notified of a kind of events by a channel. */
export interface NotificationPreference {
  readonly kind: NotificationKind;
  /** About actions of this type; null: about all others. */
  readonly type: string | null;
  readonly channel: Channel;
  readonly isOn: boolean;
  /** The host decides. */
  readonly isLocked: boolean;
}

export interface NotificationPreferenceInput {
  readonly kind: NotificationKind;
  /** Absent: of all types. */
  readonly type?: string;
  readonly channel: Channel;
  readonly isOn: boolean;
}

/** When the reader wants neither mail nor push messages. */
export interface QuietHours {
  /** Such as 22:00. */
  readonly from: string;
  /** On the next day if it is not later. */
  readonly to: string;
  /** An IANA name, such as Europe/Berlin. */
  readonly timeZone: string;
  /** Days on which they begin, from 1, Monday, to 7; null: every day. */
  readonly days: readonly number[] | null;
}

/** One of the three, and why. */
export interface ReportInput {
  readonly actionId?: string;
  readonly interactionId?: string;
  readonly memberId?: string;
  /** At most 200 characters. */
  readonly reason: string;
  /** At most 2,000 characters. */
  readonly text?: string;
}

type Change<Variables, Result> = (variables: Variables) => Promise<Result>;
interface OfAction {
  readonly actionId: string;
}
interface OfActions {
  readonly actionIds: readonly string[];
}
interface OfMember {
  readonly memberId: string;
}
interface Unread {
  readonly unreadCount: UnreadCount;
}

/** The changes a reader makes, named as in the API. Each rejects with a FeedClientError. */
export interface FeedMutations {
  readonly publishAction: Change<
    { readonly input: PublishActionInput },
    { readonly isReplay: boolean; readonly action: { readonly id: string } }
  >;
  readonly deleteAction: Change<{ readonly id: string }, { readonly id: string }>;
  readonly addInteraction: Change<{ readonly input: AddInteractionInput }, InteractionChange>;
  readonly removeInteraction: Change<{ readonly input: RemoveInteractionInput }, InteractionChange>;
  readonly updateInteraction: Change<{ readonly id: string; readonly text: string }, Interaction>;
  readonly bookmark: Change<OfAction, ActionState>;
  readonly unbookmark: Change<OfAction, ActionState>;
  /** `copyLimit`: how many past actions come along, 0..1000; default 100. */
  readonly follow: Change<{ readonly refId: string; readonly copyLimit?: number }, FollowState>;
  /** `keepHistory: false` also removes what came only through this follow. */
  readonly unfollow: Change<{ readonly refId: string; readonly keepHistory?: boolean }, FollowState>;
  readonly hideFeedItem: Change<OfAction, OfAction>;
  readonly unhideFeedItem: Change<OfAction, OfAction>;
  readonly archiveFeedItem: Change<OfAction, OfAction>;
  readonly unarchiveFeedItem: Change<OfAction, OfAction>;
  readonly snoozeFeedItem: Change<OfAction & { readonly until: Instant }, OfAction>;
  readonly unsnoozeFeedItem: Change<OfAction, OfAction>;
  /** Everything up to this relevancy. */
  readonly markFeedRead: Change<{ readonly upTo: Instant }, Unread>;
  /** 1..100 actions. */
  readonly markItemsRead: Change<OfActions, Unread>;
  readonly markItemsUnread: Change<OfActions, Unread>;
  readonly addMute: Change<{ readonly target: MuteTarget; readonly until?: Instant }, Unread>;
  readonly removeMute: Change<{ readonly target: MuteTarget }, Unread>;
  /** `upTo`: `at` of the topmost notification that is shown. Gives the reader. */
  readonly markNotificationsSeen: Change<{ readonly upTo: Instant }, OfMember>;
  /** Everything up to a time, or at most 100 single ones, or both. Gives the reader. */
  readonly markNotificationsRead: Change<
    { readonly upTo?: Instant; readonly ids?: readonly string[] },
    OfMember
  >;
  /** At most 100; those that are not named stay. Gives all. */
  readonly setNotificationPreferences: Change<
    { readonly preferences: readonly NotificationPreferenceInput[] },
    { readonly notificationPreferences: readonly NotificationPreference[] }
  >;
  /** `{}`: none. */
  readonly setQuietHours: Change<
    Partial<Omit<QuietHours, 'days'>> & { readonly days?: readonly number[] },
    { readonly quietHours: QuietHours | null }
  >;
  /** Of a `PushSubscription`: its `endpoint`, and `p256dh` and `auth` of its `keys`. Gives true. */
  readonly registerPush: Change<
    { readonly endpoint: string; readonly p256dh: string; readonly auth: string },
    boolean
  >;
  /** Gives whether the browser was registered for the reader. */
  readonly unregisterPush: Change<{ readonly endpoint: string }, boolean>;
  /** Each gives the reader. */
  readonly blockMember: Change<OfMember, OfMember>;
  readonly unblockMember: Change<OfMember, OfMember>;
  readonly report: Change<
    ReportInput,
    { readonly id: string; readonly state: 'OPEN' | 'TAKEN' | 'RESOLVED' | 'DISMISSED' }
  >;
}
