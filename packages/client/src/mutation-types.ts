import type { Channel, InteractionKind, MutationArguments } from './generated/mutation-inputs.ts';
import type { Added } from './own-types.ts';
import type { Instant, NotificationKind, Person, UnreadCount } from './types.ts';

export type {
  ActionFilter,
  Channel,
  InteractionKind,
  MuteTargetInput as MuteTarget,
  NotificationPreferenceInput,
  PublishActionInput,
  RecordInteractionInput as AddInteractionInput,
  RefInput,
  RemoveInteractionInput,
  UpdateActionInput,
} from './generated/mutation-inputs.ts';
export type ReportInput = MutationArguments['report'];

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

export type Interaction = Added<'comment'> & {
  readonly id: string;
  readonly kind: InteractionKind;
  readonly at: Instant;
  readonly editedAt: Instant | null;
  readonly text: string | null;
  readonly reaction: string | null;
  /** Of a reply: the comment it replies to. */
  readonly parentId: string | null;
  readonly state: 'VISIBLE' | 'HIDDEN' | 'REMOVED';
  readonly actor: Person;
};

export interface InteractionChange {
  /** Nothing was changed: it was so before. */
  readonly isReplay: boolean;
  readonly interaction: Interaction | null;
  readonly action: ActionState;
}

export interface FollowState {
  readonly refId: string;
  readonly isFollowed: boolean;
  readonly followerCount: number;
}

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

interface OfAction {
  readonly actionId: string;
}
interface OfMember {
  readonly memberId: string;
}
interface Unread {
  readonly unreadCount: UnreadCount;
}

/** A list of what the reader follows. */
export interface ReaderList {
  readonly id: string;
  readonly name: string;
  /** Its items are kept out of the feed, unless they mention or name the reader. */
  readonly isExclusive: boolean;
}

/** A key of a feed reader. */
export interface FeedKey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  /** To an hour; null: never. */
  readonly usedAt: string | null;
}

/** What each gives. */
interface MutationResults {
  readonly publishAction: {
    readonly isReplay: boolean;
    /** Hidden: it waits for review. */
    readonly action: { readonly id: string; readonly isHidden: boolean };
  };
  readonly updateAction: ActionState;
  readonly deleteAction: { readonly id: string };
  readonly addInteraction: InteractionChange;
  readonly removeInteraction: InteractionChange;
  readonly updateInteraction: Interaction;
  readonly bookmark: ActionState;
  readonly unbookmark: ActionState;
  readonly follow: FollowState;
  readonly unfollow: FollowState;
  readonly hideFeedItem: OfAction;
  readonly unhideFeedItem: OfAction;
  readonly archiveFeedItem: OfAction;
  readonly unarchiveFeedItem: OfAction;
  readonly snoozeFeedItem: OfAction;
  readonly unsnoozeFeedItem: OfAction;
  readonly markFeedRead: Unread;
  readonly markItemsRead: Unread;
  readonly markItemsUnread: Unread;
  /** How many were recorded. */
  readonly recordImpressions: number;
  readonly showLess: OfMember;
  readonly undoShowLess: OfMember;
  readonly addMute: Unread;
  readonly removeMute: Unread;
  /** The reader. */
  readonly markNotificationsSeen: OfMember;
  readonly markNotificationsRead: OfMember;
  /** All of them. */
  readonly setNotificationPreferences: {
    readonly notificationPreferences: readonly NotificationPreference[];
  };
  readonly setQuietHours: { readonly quietHours: QuietHours | null };
  /** True. */
  readonly registerPush: boolean;
  /** Whether the browser was registered for the reader. */
  readonly unregisterPush: boolean;
  /** `null`: the server sends no mails. */
  readonly resumeMails: {
    readonly hasAddress: boolean;
    readonly offReason: 'REFUSED' | 'BOUNCED' | 'COMPLAINED' | null;
  } | null;
  /** The address is not shown again. */
  readonly createFeedKey: { readonly url: string; readonly key: FeedKey };
  /** Those that are left. */
  readonly revokeFeedKey: { readonly feedKeys: readonly FeedKey[] };
  readonly createList: ReaderList;
  readonly updateList: ReaderList;
  /** Its id. */
  readonly deleteList: string;
  readonly addToList: ReaderList;
  readonly removeFromList: ReaderList;
  readonly blockMember: OfMember;
  readonly unblockMember: OfMember;
  readonly report: { readonly id: string; readonly state: 'OPEN' | 'TAKEN' | 'RESOLVED' | 'DISMISSED' };
}

/** The changes a reader makes, named as in the API. Each rejects with a FeedClientError. */
export type FeedMutations = {
  readonly [Name in keyof MutationArguments]: (
    variables: MutationArguments[Name],
  ) => Promise<MutationResults[Name]>;
};
