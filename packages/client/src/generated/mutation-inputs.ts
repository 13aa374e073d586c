// Written by npm run schema, from the schema. A change here is lost.

import type { DescriptorInput } from '../own-types.ts';

/** Selects actions that meet all given conditions. */
export type ActionFilter = {
    /** By one of these actors. */
    readonly actorIds?: readonly string[] | null;
    /** With this value in a field of the descriptor. */
    readonly descriptor?: DescriptorFieldFilter | null;
    /** Conducted at this time or later. */
    readonly since?: string | null;
    /** With any of these tags. */
    readonly tags?: readonly string[] | null;
    /** Only what has all of these words in its sentence, texts, tags or names; of the last word the beginning is enough. At most 100 characters and 8 words, compared as muted phrases are. Looks at the newest 1,000 entries. */
    readonly text?: string | null;
    /** Of one of these types, such as ApplicationRating. An unknown one is BAD_USER_INPUT. */
    readonly types?: readonly string[] | null;
    /** Conducted before this time. */
    readonly until?: string | null;
};

/** A way to notify a member. */
export type Channel = 'EMAIL' | 'IN_APP' | 'PUSH';

/** Why an action is in a feed. */
export type DeliveryReason = 'DEPARTMENT' | 'FOLLOW' | 'MENTION' | 'PULL' | 'RECIPIENT' | 'RESHARE' | 'TEAM';

/** A field that its type declares as indexed, such as `{field: "raterId", value: "john"}`. */
export type DescriptorFieldFilter = {
    /** Name of the field. BAD_USER_INPUT if no type declares it as indexed. */
    readonly field: string;
    /** Exact value of the field. */
    readonly value: string;
};

/** Selects entries of a feed that meet all given conditions. */
export type FeedFilter = {
    /** Actions by one of these actors. */
    readonly actorIds?: readonly string[] | null;
    /** Returns the viewer's archived items instead of the feed. */
    readonly archived?: boolean | null;
    /** Only items with none of these. */
    readonly not?: FeedFilterExclusion | null;
    /** Items in the feed for any of these reasons. */
    readonly reasons?: readonly DeliveryReason[] | null;
    /** Actions that carry this ref id. */
    readonly refId?: string | null;
    /** At this time or later: relevancy in RELEVANCY and TOP, conducted in RECENT. */
    readonly since?: string | null;
    /** Returns the viewer's snoozed items instead of the feed. Cannot be combined with `archived`. */
    readonly snoozed?: boolean | null;
    /** Actions with any of these tags. */
    readonly tags?: readonly string[] | null;
    /** Only what has all of these words in its sentence, texts, tags or names; of the last word the beginning is enough. At most 100 characters and 8 words, compared as muted phrases are. Looks at the newest 1,000 entries. */
    readonly text?: string | null;
    /** Actions of one of these types, such as ApplicationRating. An unknown one is BAD_USER_INPUT. */
    readonly types?: readonly string[] | null;
    /** Only unread items. */
    readonly unreadOnly?: boolean | null;
    /** Before this time: relevancy in RELEVANCY and TOP, conducted in RECENT. */
    readonly until?: string | null;
};

/** Leaves out entries of a feed that have any of these. */
export type FeedFilterExclusion = {
    /** Actions by these actors. */
    readonly actorIds?: readonly string[] | null;
    /** Items in the feed for one of these reasons, whatever other reasons they are in it for. */
    readonly reasons?: readonly DeliveryReason[] | null;
    /** Actions that carry one of these ref ids. */
    readonly refIds?: readonly string[] | null;
    /** Actions with one of these tags. */
    readonly tags?: readonly string[] | null;
    /** Actions of these types. An unknown one is BAD_USER_INPUT. */
    readonly types?: readonly string[] | null;
};

/** How a feed is ordered. */
export type FeedOrder = 'RECENT' | 'RELEVANCY' | 'TOP';

/** Whether the stored part of a feed is complete. */
export type FeedState = 'READY' | 'REBUILDING';

/** That an action was shown to the viewer. */
export type ImpressionInput = {
    /** Global id of the action. */
    readonly actionId: string;
    /** How long it was shown, in milliseconds, at most a day. */
    readonly ms?: number | null;
    /** The name of the view in which it was shown. Default: the feed. */
    readonly view?: string | null;
};

/** What somebody did with an action. */
export type InteractionKind = 'COMMENT' | 'LIKE' | 'REACTION' | 'RESHARE';

/** What to mute: exactly one of these. */
export type MuteTargetInput =
  | {
    /** Actions of this member, who must not be the viewer. */
    readonly memberId: string; }
  | {
    /** Actions that contain these 1 to 5 consecutive words (at most 100 characters) in a text or name of the descriptor or in the label of a ref, as stored. Case-insensitive. Summaries, tags, free data and comments are not compared. */
    readonly phrase: string; }
  | {
    /** Actions that refer to this; for the id of a person also their own actions. */
    readonly refId: string; }
  | {
    /** Actions with this type of descriptor. */
    readonly type: string; };

/** Selects notifications that meet all given conditions. */
export type NotificationFilter = {
    /** Of one of these kinds. */
    readonly kinds?: readonly NotificationKind[] | null;
    /** With the newest event at this time or later. */
    readonly since?: string | null;
    /** Only unread ones. */
    readonly unreadOnly?: boolean | null;
    /** With the newest event before this time. */
    readonly until?: string | null;
};

/** Why a notification concerns the reader. */
export type NotificationKind = 'ASSIGNED' | 'COMMENT' | 'FOLLOW' | 'LIKE' | 'MENTION' | 'OWN' | 'REACTION' | 'REPLY' | 'RESHARE';

/** A preference of a member. */
export type NotificationPreferenceInput = {
    /** The channel. */
    readonly channel: Channel;
    /** Whether the member is notified. */
    readonly isOn: boolean;
    /** The kind of events. */
    readonly kind: NotificationKind;
    /** Only about actions of this type. Default: all. */
    readonly type?: string | null;
};

/** All of the viewer's interactions of a kind with an action. */
export type OwnInteraction = {
    /** Global id of the action. */
    readonly actionId: string;
    /** The kind. */
    readonly kind: InteractionKind;
    /** For REACTION: only this one. Default: all. */
    readonly reaction?: string | null;
};

/** An action to record. */
export type PublishActionInput = {
    /** Default: the viewer. Another actor requires the role service. */
    readonly actorId?: string | null;
    /** Default: now. At most five minutes in the future. */
    readonly conducted?: string | null;
    /** What happened. */
    readonly descriptor: DescriptorInput;
    /** When it is removed everywhere: later than now and than `conducted`. Default: never. */
    readonly expiresAt?: string | null;
    /** Unique per actor; a retry with the same key returns the first action. */
    readonly idempotencyKey?: string | null;
    /** Ids of the members who are mentioned. */
    readonly mentions?: readonly string[] | null;
    /** When it is published, in place of `conducted`: later than now, at most a year ahead. Until then only its actor, admins and services see it. CONFLICT for more than 1,000 of one actor. Default: now. */
    readonly publishAt?: string | null;
    /** Readers of a RESTRICTED action, 1 to 1000 member ids. */
    readonly recipients?: readonly string[] | null;
    /** The things it refers to. */
    readonly refs?: readonly RefInput[] | null;
    /** Its audience. */
    readonly scope?: Scope | null;
};

/** An interaction with an action. */
export type RecordInteractionInput = {
    /** Global id of the action. */
    readonly actionId: string;
    /** The member who interacted. Default: the viewer. Another member requires the role service. NOT_FOUND if they may not see the action. */
    readonly actorId?: string | null;
    /** When it happened. Default: now. A time up to five minutes ahead counts as now; later ones are refused, and those more than a day ago unless a service or an admin records them. */
    readonly at?: string | null;
    /** Free data of the application, at most 4 KiB as JSON. */
    readonly data?: unknown;
    /** Unique per action, actor and kind; of a REACTION also per reaction. A retry with the same key changes nothing, even if the interaction has been removed since. Without a key each comment counts; a like, a reshare and each reaction count once per actor. */
    readonly idempotencyKey?: string | null;
    /** What was done. */
    readonly kind: InteractionKind;
    /** For COMMENT: ids of members it mentions, at most 20. They are notified. Members who may not see the action are left out without an error. */
    readonly mentions?: readonly string[] | null;
    /** For COMMENT: global id of the comment it replies to, which must not be a reply itself. NOT_FOUND if it is not visible. */
    readonly parentId?: string | null;
    /** Required for REACTION: one of the configured reactions. */
    readonly reaction?: string | null;
    /** For COMMENT: 1 to 10,000 characters. */
    readonly text?: string | null;
};

/** A thing as described by the host application. upsertRefs clears absent details; elsewhere details are BAD_USER_INPUT. */
export type RefInput = {
    /** Free data, at most 4 KiB of JSON. */
    readonly data?: unknown;
    /** The host application's own id of the thing. */
    readonly id: string;
    /** URL of an image: https, at most 2048 characters. */
    readonly imageUrl?: string | null;
    /** Its name. */
    readonly label: string;
    /** What kind of thing it is. */
    readonly type: string;
    /** URL of a page about it: https, at most 2048 characters. */
    readonly url?: string | null;
};

/** The interaction to remove. */
export type RemoveInteractionInput =
  | {
    /** Global id of the interaction. */
    readonly id: string; }
  | {
    /** The viewer's own interactions. */
    readonly own: OwnInteraction; };

/** Whom an action is for. */
export type Scope = 'DEPARTMENT' | 'FOLLOWERS' | 'PUBLIC' | 'RESTRICTED' | 'TEAM';

/** Changes of an action: given fields replace the current values, absent fields stay. */
export type UpdateActionInput = {
    /** The new descriptor, of the same type. */
    readonly descriptor?: DescriptorInput | null;
    /** When it is removed everywhere: later than now and than `conducted`; null: never. */
    readonly expiresAt?: string | null;
    /** Ids of the members who are mentioned. */
    readonly mentions?: readonly string[] | null;
    /** Another time to publish a scheduled action: later than now, at most a year ahead. CONFLICT if it is published already. */
    readonly publishAt?: string | null;
    /** Readers of a RESTRICTED action, 1 to 1000 member ids. */
    readonly recipients?: readonly string[] | null;
    /** The things it refers to. */
    readonly refs?: readonly RefInput[] | null;
    /** Its audience. TEAM and DEPARTMENT are the actor's current ones. Recipients are removed unless it is RESTRICTED. */
    readonly scope?: Scope | null;
};

/** What each mutation of a reader takes. */
export interface MutationArguments {
  addInteraction: {
    /** The interaction. */
    readonly input: RecordInteractionInput;
  };
  addMute: {
    /** What to mute. */
    readonly target: MuteTargetInput;
    /** When the mute ends, in the future. Default: never. */
    readonly until?: string | null;
  };
  addToList: {
    /** Global id of the list. */
    readonly id: string;
    /** Refs, 1 to 100. */
    readonly refIds: readonly string[];
  };
  archiveFeedItem: {
    /** Global id of the action. */
    readonly actionId: string;
  };
  blockMember: {
    /** The host application's own id of the member. */
    readonly memberId: string;
  };
  bookmark: {
    /** Global id of the action. */
    readonly actionId: string;
  };
  createFeedKey: {
    /** What to call it, such as the name of the feed reader; 1 to 100 characters. */
    readonly name: string;
  };
  createList: {
    /** Whether its items are kept out of the feed and its views, unless they mention or name the viewer. */
    readonly isExclusive?: boolean | null;
    /** What to call it; 1 to 100 characters. */
    readonly name: string;
  };
  deleteAction: {
    /** Global id of the action. */
    readonly id: string;
  };
  deleteList: {
    /** Global id of the list. */
    readonly id: string;
  };
  follow: {
    /** Number of past actions of the ref to deliver, 0 to 1000, even if it is already followed. Only actions of `types` count. */
    readonly copyLimit?: number | null;
    /** The ref to follow. */
    readonly refId: string;
    /** Delivers only actions of these types; null: of all types. Default: unchanged; all types for a new follow. Actions of other types that were already delivered stay. */
    readonly types?: readonly string[] | null;
  };
  hideFeedItem: {
    /** Global id of the action. */
    readonly actionId: string;
  };
  markFeedRead: {
    /** Global id of a list of the viewer, which has the read mark of the feed. Not beside `view`. */
    readonly listId?: string | null;
    /** The relevancy of the topmost item seen. */
    readonly upTo: string;
    /** The name of a view: moves its own read mark or, if it has none, that of the feed. Default: the feed. BAD_USER_INPUT: there is no such view. */
    readonly view?: string | null;
  };
  markItemsRead: {
    /** Global ids of the actions. */
    readonly actionIds: readonly string[];
  };
  markItemsUnread: {
    /** Global ids of the actions. */
    readonly actionIds: readonly string[];
  };
  markNotificationsRead: {
    /** Global ids of notifications of the viewer. */
    readonly ids?: readonly string[] | null;
    /** Everything up to this time; never moves backwards. */
    readonly upTo?: string | null;
  };
  markNotificationsSeen: {
    /** `at` of the topmost notification shown. */
    readonly upTo: string;
  };
  publishAction: {
    /** The action. */
    readonly input: PublishActionInput;
  };
  recordImpressions: {
    /** What was shown. */
    readonly impressions: readonly ImpressionInput[];
  };
  registerPush: {
    /** Its authentication secret, in base64url. */
    readonly auth: string;
    /** URL of the push service, https. */
    readonly endpoint: string;
    /** Its public key, in base64url. */
    readonly p256dh: string;
  };
  removeFromList: {
    /** Global id of the list. */
    readonly id: string;
    /** Refs, 1 to 100. */
    readonly refIds: readonly string[];
  };
  removeInteraction: {
    /** Which. */
    readonly input: RemoveInteractionInput;
  };
  removeMute: {
    /** The mute to end. */
    readonly target: MuteTargetInput;
  };
  report: {
    /** Global id of an action. */
    readonly actionId?: string | null;
    /** Global id of an interaction. */
    readonly interactionId?: string | null;
    /** The host application's own id of a member. */
    readonly memberId?: string | null;
    /** Such as a word for the kind of fault, at most 200 characters. */
    readonly reason: string;
    /** Further words, at most 2000 characters. */
    readonly text?: string | null;
  };
  resumeMails: {
  };
  revokeFeedKey: {
    /** Id of the key. */
    readonly id: string;
  };
  setNotificationPreferences: {
    /** The preferences to set. */
    readonly preferences: readonly NotificationPreferenceInput[];
  };
  setQuietHours: {
    /** Days on which they begin, Monday is 1, Sunday is 7. Default: every day. */
    readonly days?: readonly number[] | null;
    /** When they begin, such as 22:00. */
    readonly from?: string | null;
    /** The IANA name of a time zone, such as Europe/Berlin. */
    readonly timeZone?: string | null;
    /** When they end, such as 07:00; on the next day if it is not later. */
    readonly to?: string | null;
  };
  showLess: {
    /** Global id of the action. */
    readonly actionId: string;
  };
  snoozeFeedItem: {
    /** Global id of the action. */
    readonly actionId: string;
    /** In the future, at most a year from now. */
    readonly until: string;
  };
  unarchiveFeedItem: {
    /** Global id of the action. */
    readonly actionId: string;
  };
  unblockMember: {
    /** The host application's own id of the member. */
    readonly memberId: string;
  };
  unbookmark: {
    /** Global id of the action. */
    readonly actionId: string;
  };
  undoShowLess: {
    /** Global id of the action. */
    readonly actionId: string;
  };
  unfollow: {
    /** Whether delivered actions stay in the feed. */
    readonly keepHistory?: boolean | null;
    /** The ref to unfollow. */
    readonly refId: string;
  };
  unhideFeedItem: {
    /** Global id of the action. */
    readonly actionId: string;
  };
  unregisterPush: {
    /** URL of the push service. */
    readonly endpoint: string;
  };
  unsnoozeFeedItem: {
    /** Global id of the action. */
    readonly actionId: string;
  };
  updateAction: {
    /** Global id of the action. */
    readonly id: string;
    /** The version to be changed. Default: any. */
    readonly ifVersion?: number | null;
    /** The changes. */
    readonly input: UpdateActionInput;
  };
  updateInteraction: {
    /** Global id of the interaction. */
    readonly id: string;
    /** 1 to 10,000 characters. */
    readonly text: string;
  };
  updateList: {
    /** Global id of the list. */
    readonly id: string;
    /** Whether its items are kept out of the feed and its views, unless they mention or name the viewer. Default: unchanged. */
    readonly isExclusive?: boolean | null;
    /** What to call it; 1 to 100 characters. Default: unchanged. */
    readonly name?: string | null;
  };
}

/** The same, as a document declares it. */
export const MUTATION_ARGUMENTS = {
  addInteraction: { input: 'RecordInteractionInput!', },
  addMute: { target: 'MuteTargetInput!', until: 'DateTime', },
  addToList: { id: 'ID!', refIds: '[String!]!', },
  archiveFeedItem: { actionId: 'ID!', },
  blockMember: { memberId: 'String!', },
  bookmark: { actionId: 'ID!', },
  createFeedKey: { name: 'String!', },
  createList: { isExclusive: 'Boolean', name: 'String!', },
  deleteAction: { id: 'ID!', },
  deleteList: { id: 'ID!', },
  follow: { copyLimit: 'Int', refId: 'String!', types: '[String!]', },
  hideFeedItem: { actionId: 'ID!', },
  markFeedRead: { listId: 'ID', upTo: 'DateTime!', view: 'String', },
  markItemsRead: { actionIds: '[ID!]!', },
  markItemsUnread: { actionIds: '[ID!]!', },
  markNotificationsRead: { ids: '[ID!]', upTo: 'DateTime', },
  markNotificationsSeen: { upTo: 'DateTime!', },
  publishAction: { input: 'PublishActionInput!', },
  recordImpressions: { impressions: '[ImpressionInput!]!', },
  registerPush: { auth: 'String!', endpoint: 'String!', p256dh: 'String!', },
  removeFromList: { id: 'ID!', refIds: '[String!]!', },
  removeInteraction: { input: 'RemoveInteractionInput!', },
  removeMute: { target: 'MuteTargetInput!', },
  report: { actionId: 'ID', interactionId: 'ID', memberId: 'String', reason: 'String!', text: 'String', },
  resumeMails: { },
  revokeFeedKey: { id: 'ID!', },
  setNotificationPreferences: { preferences: '[NotificationPreferenceInput!]!', },
  setQuietHours: { days: '[Int!]', from: 'String', timeZone: 'String', to: 'String', },
  showLess: { actionId: 'ID!', },
  snoozeFeedItem: { actionId: 'ID!', until: 'DateTime!', },
  unarchiveFeedItem: { actionId: 'ID!', },
  unblockMember: { memberId: 'String!', },
  unbookmark: { actionId: 'ID!', },
  undoShowLess: { actionId: 'ID!', },
  unfollow: { keepHistory: 'Boolean', refId: 'String!', },
  unhideFeedItem: { actionId: 'ID!', },
  unregisterPush: { endpoint: 'String!', },
  unsnoozeFeedItem: { actionId: 'ID!', },
  updateAction: { id: 'ID!', ifVersion: 'Int', input: 'UpdateActionInput!', },
  updateInteraction: { id: 'ID!', text: 'String!', },
  updateList: { id: 'ID!', isExclusive: 'Boolean', name: 'String', },
} as const satisfies Record<keyof MutationArguments, Readonly<Record<string, string>>>;
