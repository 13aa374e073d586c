/* eslint-disable */
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
export type Maybe<T> = T | null;
export type InputMaybe<T> = T | null | undefined;
export type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
export type MakeOptional<T, K extends keyof T> = Omit<T, K> & { [SubKey in K]?: Maybe<T[SubKey]> };
export type MakeMaybe<T, K extends keyof T> = Omit<T, K> & { [SubKey in K]: Maybe<T[SubKey]> };
export type MakeEmpty<T extends { [key: string]: unknown }, K extends keyof T> = { [_ in K]?: never };
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
/** All built-in and custom scalars, mapped to their actual values */
export type Scalars = {
  ID: { input: string; output: string; }
  String: { input: string; output: string; }
  Boolean: { input: boolean; output: boolean; }
  Int: { input: number; output: number; }
  Float: { input: number; output: number; }
  /** An instant, ISO-8601 in UTC with milliseconds, such as 2014-02-10T10:50:42.389Z. Input may leave out the fraction; years 1970 to 9999. */
  DateTime: { input: string; output: string; }
  /** Any JSON value. */
  JSON: { input: unknown; output: unknown; }
};

/** Selects actions that meet all given conditions. */
export type ActionFilter = {
  /** By one of these actors. */
  actorIds?: InputMaybe<Array<Scalars['String']['input']>>;
  /** With this value in a field of the descriptor. */
  descriptor?: InputMaybe<DescriptorFieldFilter>;
  /** Conducted at this time or later. */
  since?: InputMaybe<Scalars['DateTime']['input']>;
  /** With any of these tags. */
  tags?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Only what has all of these words in its sentence, texts, tags or names; of the last word the beginning is enough. At most 100 characters and 8 words, compared as muted phrases are. Looks at the newest 1,000 entries. */
  text?: InputMaybe<Scalars['String']['input']>;
  /** Of one of these types, such as ApplicationRating. An unknown one is BAD_USER_INPUT. */
  types?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Conducted before this time. */
  until?: InputMaybe<Scalars['DateTime']['input']>;
};

/** An applicant was hired for a position. */
export type ApplicantHiredInput = {
  /** The applicant. */
  applicantId: Scalars['String']['input'];
  /** Name of the applicant. */
  applicantName: Scalars['String']['input'];
  /** The position filled. */
  positionId: Scalars['String']['input'];
  /** Name of the position. */
  positionName: Scalars['String']['input'];
  /** Tags to filter by, at most 32. */
  tags?: InputMaybe<Array<Scalars['String']['input']>>;
};

/** Somebody was asked to rate an applicant. */
export type ApplicantRatingRequestedInput = {
  /** The applicant to rate. */
  applicantId: Scalars['String']['input'];
  /** Name of the applicant. */
  applicantName: Scalars['String']['input'];
  /** The person who was asked. */
  requestedFromId: Scalars['String']['input'];
  /** Name of the person who was asked. */
  requestedFromName: Scalars['String']['input'];
  /** Tags to filter by, at most 32. */
  tags?: InputMaybe<Array<Scalars['String']['input']>>;
};

/** Somebody rated an applicant for a position. */
export type ApplicationRatingInput = {
  /** The applicant. */
  applicantId: Scalars['String']['input'];
  /** Name of the applicant. */
  applicantName: Scalars['String']['input'];
  /** The position applied for. */
  positionId: Scalars['String']['input'];
  /** Name of the position. */
  positionName: Scalars['String']['input'];
  /** The rater. Must be the actor unless a service publishes. */
  raterId: Scalars['String']['input'];
  /** Name of the rater. */
  raterName: Scalars['String']['input'];
  /** The score, 0 to 100 on whatever scale the application uses. */
  ratingScore: Scalars['Float']['input'];
  /** The rater's comment. */
  ratingText?: InputMaybe<Scalars['String']['input']>;
  /** Tags to filter by, at most 32. */
  tags?: InputMaybe<Array<Scalars['String']['input']>>;
};

/** A way to notify a member. */
export type Channel =
  /** Mail, sent by the host application, which is notified by `notification.due`. */
  | 'EMAIL'
  /** The list of notifications. */
  | 'IN_APP'
  /** Push messages, sent by the server to browsers that are registered, or by the host application. */
  | 'PUSH';

/** Somebody commented on a post. */
export type CommentedInput = {
  /** The comment. */
  commentId: Scalars['String']['input'];
  /** The post commented on. */
  postId: Scalars['String']['input'];
  /** Title of the post. */
  postTitle?: InputMaybe<Scalars['String']['input']>;
  /** Tags to filter by, at most 32. */
  tags?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Text of the comment. */
  text?: InputMaybe<Scalars['String']['input']>;
};

/** Anything else: a verb with an object, an optional target and free data (at most 16 KiB). */
export type CustomInput = {
  /** Free data of the application. */
  data?: InputMaybe<Scalars['JSON']['input']>;
  /** Id of the thing it was done to. */
  objectId: Scalars['String']['input'];
  /** What kind of thing it was done to, such as "post". */
  objectType: Scalars['String']['input'];
  /** Tags to filter by, at most 32. */
  tags?: InputMaybe<Array<Scalars['String']['input']>>;
  /** The thing that the object belongs to, or for which it was done. */
  targetId?: InputMaybe<Scalars['String']['input']>;
  /** What was done, such as "posted". */
  verb: Scalars['String']['input'];
};

/** Why an action is in a feed. */
export type DeliveryReason =
  /** The reader is in the actor's department. */
  | 'DEPARTMENT'
  /** The reader follows the actor or one of the refs. */
  | 'FOLLOW'
  /** The action mentions the reader. */
  | 'MENTION'
  /** The reader follows a ref with very many followers, whose actions are looked up on read. */
  | 'PULL'
  /** The reader is a recipient of the restricted action. */
  | 'RECIPIENT'
  /** A member whom the reader follows reshared a PUBLIC action. */
  | 'RESHARE'
  /** The reader is in the actor's team. */
  | 'TEAM';

/** A field that its type declares as indexed, such as `{field: "raterId", value: "john"}`. */
export type DescriptorFieldFilter = {
  /** Name of the field. BAD_USER_INPUT if no type declares it as indexed. */
  field: Scalars['String']['input'];
  /** Exact value of the field. */
  value: Scalars['String']['input'];
};

/** What happened: exactly one of these. */
export type DescriptorInput =
  /** An applicant was hired for a position. */
  { applicantHired: ApplicantHiredInput; applicantRatingRequested?: never; applicationRating?: never; commented?: never; custom?: never; followed?: never; liked?: never; newApplicant?: never; posted?: never; }
  |  /** Somebody was asked to rate an applicant. */
  { applicantHired?: never; applicantRatingRequested: ApplicantRatingRequestedInput; applicationRating?: never; commented?: never; custom?: never; followed?: never; liked?: never; newApplicant?: never; posted?: never; }
  |  /** Somebody rated an applicant for a position. */
  { applicantHired?: never; applicantRatingRequested?: never; applicationRating: ApplicationRatingInput; commented?: never; custom?: never; followed?: never; liked?: never; newApplicant?: never; posted?: never; }
  |  /** Somebody commented on a post. */
  { applicantHired?: never; applicantRatingRequested?: never; applicationRating?: never; commented: CommentedInput; custom?: never; followed?: never; liked?: never; newApplicant?: never; posted?: never; }
  |  /** Anything else: a verb with an object, an optional target and free data (at most 16 KiB). */
  { applicantHired?: never; applicantRatingRequested?: never; applicationRating?: never; commented?: never; custom: CustomInput; followed?: never; liked?: never; newApplicant?: never; posted?: never; }
  |  /** Somebody started to follow a person or a thing. */
  { applicantHired?: never; applicantRatingRequested?: never; applicationRating?: never; commented?: never; custom?: never; followed: FollowedInput; liked?: never; newApplicant?: never; posted?: never; }
  |  /** Somebody liked something. */
  { applicantHired?: never; applicantRatingRequested?: never; applicationRating?: never; commented?: never; custom?: never; followed?: never; liked: LikedInput; newApplicant?: never; posted?: never; }
  |  /** Somebody applied for a position. */
  { applicantHired?: never; applicantRatingRequested?: never; applicationRating?: never; commented?: never; custom?: never; followed?: never; liked?: never; newApplicant: NewApplicantInput; posted?: never; }
  |  /** Somebody posted something. */
  { applicantHired?: never; applicantRatingRequested?: never; applicationRating?: never; commented?: never; custom?: never; followed?: never; liked?: never; newApplicant?: never; posted: PostedInput; };

/** Progress of the erasure of a member. */
export type ErasureState =
  /** The data are removed. A second pass will remove anything that was being written meanwhile. */
  | 'CONFIRMING'
  /** The second pass is complete. Only a hash of the member id is left, as proof of the erasure. */
  | 'DONE'
  /** Stored data are being removed. */
  | 'RUNNING';

/** Progress of the delivery of an action to feeds. */
export type FanOutState =
  /** All feeds reflect the action at this version. */
  | 'DONE'
  /** Failed too many times; an admin can retry it. */
  | 'FAILED'
  /** A worker is delivering it. */
  | 'IN_PROGRESS'
  /** It waits for a worker. */
  | 'PENDING';

/** Selects entries of a feed that meet all given conditions. */
export type FeedFilter = {
  /** Actions by one of these actors. */
  actorIds?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Returns the viewer's archived items instead of the feed. */
  archived?: InputMaybe<Scalars['Boolean']['input']>;
  /** Only items with none of these. */
  not?: InputMaybe<FeedFilterExclusion>;
  /** Items in the feed for any of these reasons. */
  reasons?: InputMaybe<Array<DeliveryReason>>;
  /** Actions that carry this ref id. */
  refId?: InputMaybe<Scalars['String']['input']>;
  /** At this time or later: relevancy in RELEVANCY and TOP, conducted in RECENT. */
  since?: InputMaybe<Scalars['DateTime']['input']>;
  /** Returns the viewer's snoozed items instead of the feed. Cannot be combined with `archived`. */
  snoozed?: InputMaybe<Scalars['Boolean']['input']>;
  /** Actions with any of these tags. */
  tags?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Only what has all of these words in its sentence, texts, tags or names; of the last word the beginning is enough. At most 100 characters and 8 words, compared as muted phrases are. Looks at the newest 1,000 entries. */
  text?: InputMaybe<Scalars['String']['input']>;
  /** Actions of one of these types, such as ApplicationRating. An unknown one is BAD_USER_INPUT. */
  types?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Only unread items. */
  unreadOnly?: InputMaybe<Scalars['Boolean']['input']>;
  /** Before this time: relevancy in RELEVANCY and TOP, conducted in RECENT. */
  until?: InputMaybe<Scalars['DateTime']['input']>;
};

/** Leaves out entries of a feed that have any of these. */
export type FeedFilterExclusion = {
  /** Actions by these actors. */
  actorIds?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Items in the feed for one of these reasons, whatever other reasons they are in it for. */
  reasons?: InputMaybe<Array<DeliveryReason>>;
  /** Actions that carry one of these ref ids. */
  refIds?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Actions with one of these tags. */
  tags?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Actions of these types. An unknown one is BAD_USER_INPUT. */
  types?: InputMaybe<Array<Scalars['String']['input']>>;
};

/** How a feed is ordered. */
export type FeedOrder =
  /** Newest first, by `conducted`. */
  | 'RECENT'
  /** By relevancy for the reader, highest first. */
  | 'RELEVANCY'
  /** By score, highest first. */
  | 'TOP';

/** Where a feed reads an item from. */
export type FeedPath =
  /** Nowhere. If nothing withholds it, it has not been delivered yet. */
  | 'NONE'
  /** Looked up when the feed is read, for a ref with very many followers. */
  | 'PULLED'
  /** From the actions themselves, because that part of the feed is not stored. */
  | 'SOURCE'
  /** From the stored feed. */
  | 'STORED';

/** Whether the stored part of a feed is complete. */
export type FeedState =
  /** The feed is complete. */
  | 'READY'
  /** The feed is being rebuilt in the background. */
  | 'REBUILDING';

/** A follower and a ref. */
export type FollowInput = {
  /** Member id of the follower. */
  followerId: Scalars['String']['input'];
  /** Whether the follower is responsible for it: interactions then bump its actions fully. Default: unchanged; false for a new follow. */
  isAssigned?: InputMaybe<Scalars['Boolean']['input']>;
  /** The ref to follow. */
  refId: Scalars['String']['input'];
  /** Delivers only actions of these types; null: of all types. Default: unchanged; all types for a new follow. Actions of other types that were already delivered stay. */
  types?: InputMaybe<Array<Scalars['String']['input']>>;
};

/** A follow to end. */
export type FollowPairInput = {
  /** Member id of the follower. */
  followerId: Scalars['String']['input'];
  /** The ref to unfollow. */
  refId: Scalars['String']['input'];
};

/** Somebody started to follow a person or a thing. */
export type FollowedInput = {
  /** The person or thing followed. */
  followedId: Scalars['String']['input'];
  /** Name of the person or thing followed. */
  followedName: Scalars['String']['input'];
  /** Tags to filter by, at most 32. */
  tags?: InputMaybe<Array<Scalars['String']['input']>>;
};

/** That an action was shown to the viewer. */
export type ImpressionInput = {
  /** Global id of the action. */
  actionId: Scalars['ID']['input'];
  /** How long it was shown, in milliseconds, at most a day. */
  ms?: InputMaybe<Scalars['Int']['input']>;
  /** The name of the view in which it was shown. Default: the feed. */
  view?: InputMaybe<Scalars['String']['input']>;
};

/** What somebody did with an action. */
export type InteractionKind =
  /** Commented on it. */
  | 'COMMENT'
  /** Liked it. */
  | 'LIKE'
  /** Reacted with one of the configured reactions. */
  | 'REACTION'
  /** Reshared it to their followers. */
  | 'RESHARE';

/** Whether an interaction is visible and counted. */
export type InteractionState =
  /** Visible to admins only and not counted. */
  | 'HIDDEN'
  /** Visible to nobody, because it was removed. */
  | 'REMOVED'
  /** Visible to everybody who may see the action. */
  | 'VISIBLE';

/** How urgent a delivery is. */
export type Lane =
  /** Many actions at once, which are not urgent. */
  | 'BULK'
  /** An action was published or got an interaction. */
  | 'LIVE'
  /** An action was hidden, shown again or deleted. */
  | 'URGENT';

/** Somebody liked something. */
export type LikedInput = {
  /** The thing liked. */
  objectId: Scalars['String']['input'];
  /** Name of the thing liked. */
  objectName?: InputMaybe<Scalars['String']['input']>;
  /** What kind of thing was liked, such as "post". */
  objectType: Scalars['String']['input'];
  /** Tags to filter by, at most 32. */
  tags?: InputMaybe<Array<Scalars['String']['input']>>;
};

/** Why a member is sent no mails. */
export type MailOffReason =
  /** A mail came back for good. */
  | 'BOUNCED'
  /** The member told their mail provider that a mail was not wanted. */
  | 'COMPLAINED'
  /** The mail server knows no mailbox of this address. */
  | 'REFUSED';

/** A picture or file at an address of the application. */
export type MediaInput = {
  /** What a picture shows, or the name of a file, at most 1000 characters. Default: empty. */
  alt?: InputMaybe<Scalars['String']['input']>;
  /** A BlurHash of a picture, to be shown until it is loaded. */
  blurhash?: InputMaybe<Scalars['String']['input']>;
  /** Height in pixels, 1 to 65535, together with the width. */
  height?: InputMaybe<Scalars['Int']['input']>;
  /** How it is shown. Default: PICTURE. */
  kind?: InputMaybe<MediaKind>;
  /** Its address: https, at most 2048 characters. */
  url: Scalars['String']['input'];
  /** Width in pixels, 1 to 65535, together with the height. */
  width?: InputMaybe<Scalars['Int']['input']>;
};

/** How something is shown. */
export type MediaKind =
  /** As a link. */
  | 'FILE'
  /** As a picture. */
  | 'PICTURE';

/** A person as described by the host application. Absent fields are cleared. */
export type MemberInput = {
  /** Free data, at most 4 KiB of JSON. */
  data?: InputMaybe<Scalars['JSON']['input']>;
  /** The department the person is in. */
  departmentId?: InputMaybe<Scalars['String']['input']>;
  /** Mail address, at most 254 characters, for mails of the server. No field of the API shows it. */
  email?: InputMaybe<Scalars['String']['input']>;
  /** URL of an image: https, at most 2048 characters. */
  imageUrl?: InputMaybe<Scalars['String']['input']>;
  /** The language of these mails, such as "de" or "de-AT". Default: English. */
  locale?: InputMaybe<Scalars['String']['input']>;
  /** The host application's own id of the person. */
  memberId: Scalars['String']['input'];
  /** Name to show. */
  name: Scalars['String']['input'];
  /** Member id of the supervisor. */
  supervisorId?: InputMaybe<Scalars['String']['input']>;
  /** The team the person is in. */
  teamId?: InputMaybe<Scalars['String']['input']>;
  /** The time zone of these mails, such as "Europe/Berlin". Default: that of the quiet hours, or UTC. */
  timeZone?: InputMaybe<Scalars['String']['input']>;
  /** URL of a page about it: https, at most 2048 characters. */
  url?: InputMaybe<Scalars['String']['input']>;
};

/** What a moderator did. */
export type ModerationKind =
  /** The action was deleted permanently. */
  | 'DELETE'
  /** The action was edited by somebody other than its actor. */
  | 'EDIT'
  /** An admin changed the text of a comment. */
  | 'EDIT_INTERACTION'
  /** The action was hidden from everybody except admins. */
  | 'HIDE'
  /** An interaction was hidden from everybody except admins. */
  | 'HIDE_INTERACTION'
  /** The action was shown again. */
  | 'UNHIDE'
  /** An interaction was shown again. */
  | 'UNHIDE_INTERACTION';

/** What to mute: exactly one of these. */
export type MuteTargetInput =
  /** Actions of this member, who must not be the viewer. */
  { memberId: Scalars['String']['input']; phrase?: never; refId?: never; type?: never; }
  |  /** Actions that contain these 1 to 5 consecutive words (at most 100 characters) in a text or name of the descriptor or in the label of a ref, as stored. Case-insensitive. Summaries, tags, free data and comments are not compared. */
  { memberId?: never; phrase: Scalars['String']['input']; refId?: never; type?: never; }
  |  /** Actions that refer to this; for the id of a person also their own actions. */
  { memberId?: never; phrase?: never; refId: Scalars['String']['input']; type?: never; }
  |  /** Actions with this type of descriptor. */
  { memberId?: never; phrase?: never; refId?: never; type: Scalars['String']['input']; };

/** Somebody applied for a position. */
export type NewApplicantInput = {
  /** The applicant. */
  applicantId: Scalars['String']['input'];
  /** Name of the applicant. */
  applicantName: Scalars['String']['input'];
  /** The position applied for. */
  positionId: Scalars['String']['input'];
  /** Name of the position. */
  positionName: Scalars['String']['input'];
  /** Tags to filter by, at most 32. */
  tags?: InputMaybe<Array<Scalars['String']['input']>>;
};

/** Selects notifications that meet all given conditions. */
export type NotificationFilter = {
  /** Of one of these kinds. */
  kinds?: InputMaybe<Array<NotificationKind>>;
  /** With the newest event at this time or later. */
  since?: InputMaybe<Scalars['DateTime']['input']>;
  /** Only unread ones. */
  unreadOnly?: InputMaybe<Scalars['Boolean']['input']>;
  /** With the newest event before this time. */
  until?: InputMaybe<Scalars['DateTime']['input']>;
};

/** Why a notification concerns the reader. */
export type NotificationKind =
  /** A service assigned something to them. */
  | 'ASSIGNED'
  /** A comment on an action of theirs. */
  | 'COMMENT'
  /** Somebody follows them. */
  | 'FOLLOW'
  /** A like of an action of theirs. */
  | 'LIKE'
  /** An action or a comment mentions them, or an action names them as recipient. */
  | 'MENTION'
  /** The type of an action says to notify them. */
  | 'OWN'
  /** A reaction to an action of theirs. */
  | 'REACTION'
  /** A reply to a comment of theirs. */
  | 'REPLY'
  /** A reshare of an action of theirs. */
  | 'RESHARE';

/** What keeps a member from being notified outside of the list. */
export type NotificationNotSentReason =
  /** There is no notification: withheldBy of the explanation says why. */
  | 'NO_NOTIFICATION'
  /** The quiet hours of the member go on. */
  | 'QUIET_HOURS'
  /** The member has read it. */
  | 'READ'
  /** The member has seen it. */
  | 'SEEN'
  /** The member or the host has switched off the channel. */
  | 'SWITCHED_OFF';

/** A preference of a member. */
export type NotificationPreferenceInput = {
  /** The channel. */
  channel: Channel;
  /** Whether the member is notified. */
  isOn: Scalars['Boolean']['input'];
  /** The kind of events. */
  kind: NotificationKind;
  /** Only about actions of this type. Default: all. */
  type?: InputMaybe<Scalars['String']['input']>;
};

/** What keeps a notification out of the list. */
export type NotificationWithheldReason =
  /** The member mutes everybody who did it. */
  | 'KEPT_AWAY'
  /** The member may not see the action, or it is hidden or gone. */
  | 'NOT_VISIBLE'
  /** Nothing of the kind has happened, it was removed or hidden, or a block withholds it. */
  | 'NO_EVENT'
  /** It happened more than 90 days ago. */
  | 'OUT_OF_WINDOW'
  /** The member or the host has switched it off. */
  | 'SWITCHED_OFF';

/** All of the viewer's interactions of a kind with an action. */
export type OwnInteraction = {
  /** Global id of the action. */
  actionId: Scalars['ID']['input'];
  /** The kind. */
  kind: InteractionKind;
  /** For REACTION: only this one. Default: all. */
  reaction?: InputMaybe<Scalars['String']['input']>;
};

/** Somebody posted something. */
export type PostedInput = {
  /** Pictures and files of the post. */
  media?: InputMaybe<Array<MediaInput>>;
  /** The post. */
  postId: Scalars['String']['input'];
  /** Title of the post. */
  postTitle?: InputMaybe<Scalars['String']['input']>;
  /** Tags to filter by, at most 32. */
  tags?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Text of the post. */
  text?: InputMaybe<Scalars['String']['input']>;
};

/** An action to record. */
export type PublishActionInput = {
  /** Default: the viewer. Another actor requires the role service. */
  actorId?: InputMaybe<Scalars['String']['input']>;
  /** Default: now. At most five minutes in the future. */
  conducted?: InputMaybe<Scalars['DateTime']['input']>;
  /** What happened. */
  descriptor: DescriptorInput;
  /** When it is removed everywhere: later than now and than `conducted`. Default: never. */
  expiresAt?: InputMaybe<Scalars['DateTime']['input']>;
  /** Unique per actor; a retry with the same key returns the first action. */
  idempotencyKey?: InputMaybe<Scalars['String']['input']>;
  /** Ids of the members who are mentioned. */
  mentions?: InputMaybe<Array<Scalars['String']['input']>>;
  /** When it is published, in place of `conducted`: later than now, at most a year ahead. Until then only its actor, admins and services see it. CONFLICT for more than 1,000 of one actor. Default: now. */
  publishAt?: InputMaybe<Scalars['DateTime']['input']>;
  /** Readers of a RESTRICTED action, 1 to 1000 member ids. */
  recipients?: InputMaybe<Array<Scalars['String']['input']>>;
  /** The things it refers to. */
  refs?: InputMaybe<Array<RefInput>>;
  /** Its audience. */
  scope?: InputMaybe<Scope>;
};

/** An interaction with an action. */
export type RecordInteractionInput = {
  /** Global id of the action. */
  actionId: Scalars['ID']['input'];
  /** The member who interacted. Default: the viewer. Another member requires the role service. NOT_FOUND if they may not see the action. */
  actorId?: InputMaybe<Scalars['String']['input']>;
  /** When it happened. Default: now. A time up to five minutes ahead counts as now; later ones are refused, and those more than a day ago unless a service or an admin records them. */
  at?: InputMaybe<Scalars['DateTime']['input']>;
  /** Free data of the application, at most 4 KiB as JSON. */
  data?: InputMaybe<Scalars['JSON']['input']>;
  /** Unique per action, actor and kind; of a REACTION also per reaction. A retry with the same key changes nothing, even if the interaction has been removed since. Without a key each comment counts; a like, a reshare and each reaction count once per actor. */
  idempotencyKey?: InputMaybe<Scalars['String']['input']>;
  /** What was done. */
  kind: InteractionKind;
  /** For COMMENT: ids of members it mentions, at most 20. They are notified. Members who may not see the action are left out without an error. */
  mentions?: InputMaybe<Array<Scalars['String']['input']>>;
  /** For COMMENT: global id of the comment it replies to, which must not be a reply itself. NOT_FOUND if it is not visible. */
  parentId?: InputMaybe<Scalars['ID']['input']>;
  /** Required for REACTION: one of the configured reactions. */
  reaction?: InputMaybe<Scalars['String']['input']>;
  /** For COMMENT: 1 to 10,000 characters. */
  text?: InputMaybe<Scalars['String']['input']>;
};

/** A thing as described by the host application. upsertRefs clears absent details; elsewhere details are BAD_USER_INPUT. */
export type RefInput = {
  /** Free data, at most 4 KiB of JSON. */
  data?: InputMaybe<Scalars['JSON']['input']>;
  /** The host application's own id of the thing. */
  id: Scalars['String']['input'];
  /** URL of an image: https, at most 2048 characters. */
  imageUrl?: InputMaybe<Scalars['String']['input']>;
  /** Its name. */
  label: Scalars['String']['input'];
  /** What kind of thing it is. */
  type: Scalars['String']['input'];
  /** URL of a page about it: https, at most 2048 characters. */
  url?: InputMaybe<Scalars['String']['input']>;
};

/** What raises an item. */
export type RelevancyCauseKind =
  /** A comment. */
  | 'COMMENT'
  /** The action itself. */
  | 'CONDUCTED'
  /** A like. */
  | 'LIKE'
  /** A reaction. */
  | 'REACTION'
  /** A reshare. */
  | 'RESHARE'
  /** A reshare by a member whom the reader followed at that time. */
  | 'RESHARED_BY_FOLLOWED'
  /** The end of a snooze by the reader. */
  | 'SNOOZE_ENDED';

/** The interaction to remove. */
export type RemoveInteractionInput =
  /** Global id of the interaction. */
  { id: Scalars['ID']['input']; own?: never; }
  |  /** The viewer's own interactions. */
  { id?: never; own: OwnInteraction; };

/** What has become of a report. */
export type ReportState =
  /** Nothing had to be done. */
  | 'DISMISSED'
  /** Nobody has looked at it yet. */
  | 'OPEN'
  /** Something was done. */
  | 'RESOLVED'
  /** Somebody is looking at it. */
  | 'TAKEN';

/** The kind of thing that is reported. */
export type ReportTargetKind =
  /** An action. */
  | 'ACTION'
  /** An interaction with an action, such as a comment. */
  | 'INTERACTION'
  /** A member. */
  | 'MEMBER';

/** Whom an action is for. */
export type Scope =
  /** Members of the actor's department. */
  | 'DEPARTMENT'
  /** Followers of the actor or of one of the refs. */
  | 'FOLLOWERS'
  /** Everybody may see it; followers get it in their feeds. */
  | 'PUBLIC'
  /** Only the recipients named in the action. */
  | 'RESTRICTED'
  /** Members of the actor's team. */
  | 'TEAM';

/** Changes of an action: given fields replace the current values, absent fields stay. */
export type UpdateActionInput = {
  /** The new descriptor, of the same type. */
  descriptor?: InputMaybe<DescriptorInput>;
  /** When it is removed everywhere: later than now and than `conducted`; null: never. */
  expiresAt?: InputMaybe<Scalars['DateTime']['input']>;
  /** Ids of the members who are mentioned. */
  mentions?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Another time to publish a scheduled action: later than now, at most a year ahead. CONFLICT if it is published already. */
  publishAt?: InputMaybe<Scalars['DateTime']['input']>;
  /** Readers of a RESTRICTED action, 1 to 1000 member ids. */
  recipients?: InputMaybe<Array<Scalars['String']['input']>>;
  /** The things it refers to. */
  refs?: InputMaybe<Array<RefInput>>;
  /** Its audience. TEAM and DEPARTMENT are the actor's current ones. Recipients are removed unless it is RESTRICTED. */
  scope?: InputMaybe<Scope>;
};

/** State of an event that a receiver has not accepted. */
export type WebhookState =
  /** It is no longer retried; `retryWebhook` retries it. */
  | 'FAILED'
  /** It is retried at `nextAttemptAt`. */
  | 'RETRYING';

/** What keeps an action out of a feed. */
export type WithheldReason =
  /** The reader archived the item. */
  | 'ARCHIVED'
  /** There is a block between its actor and the reader. Only admins see this. */
  | 'BLOCKED'
  /** An admin hid it. Only admins see this. */
  | 'HIDDEN'
  /** The reader hid the item. */
  | 'HIDDEN_BY_READER'
  /** It is in a list of the reader that keeps its items out of the feed. */
  | 'IN_EXCLUSIVE_LIST'
  /** The reader mutes it. */
  | 'MUTED'
  /** The action is not addressed to the reader. */
  | 'NOT_ADDRESSED'
  /** The reader may not see it at all. Only admins see this. */
  | 'NOT_ENTITLED'
  /** The reader snoozed the item, and the snooze has not ended. */
  | 'SNOOZED';

export type FollowMutationVariables = Exact<{
  refId: Scalars['String']['input'];
}>;


export type FollowMutation = { __typename?: 'Mutation', follow: { __typename?: 'Ref', refId: string, isFollowed: boolean } };

export type PublishMutationVariables = Exact<{
  input: PublishActionInput;
}>;


export type PublishMutation = { __typename?: 'Mutation', publishAction: { __typename?: 'PublishActionPayload', isReplay: boolean, action: { __typename?: 'Action', id: string } } };

export type FeedQueryVariables = Exact<{
  first?: InputMaybe<Scalars['Int']['input']>;
  filter?: InputMaybe<FeedFilter>;
}>;


export type FeedQuery = { __typename?: 'Query', feed: { __typename?: 'FeedConnection', edges: Array<{ __typename?: 'FeedEdge', node: { __typename?: 'NewsfeedItem', action: { __typename?: 'Action', id: string, descriptor:
            | { __typename?: 'ApplicantHiredDescriptor', summary: string }
            | { __typename?: 'ApplicantRatingRequestedDescriptor', summary: string }
            | { __typename?: 'ApplicationRatingDescriptor', summary: string }
            | { __typename?: 'CommentedDescriptor', summary: string }
            | { __typename?: 'CustomDescriptor', summary: string }
            | { __typename?: 'FollowedDescriptor', summary: string }
            | { __typename?: 'LikedDescriptor', summary: string }
            | { __typename?: 'NewApplicantDescriptor', applicantName: string, summary: string }
            | { __typename?: 'PostedDescriptor', summary: string }
            | { __typename?: 'UnknownDescriptor', summary: string }
           } } }> } };

export class TypedDocumentString<TResult, TVariables>
  extends String
  implements DocumentTypeDecoration<TResult, TVariables>
{
  __apiType?: NonNullable<DocumentTypeDecoration<TResult, TVariables>['__apiType']>;
  private value: string;
  public __meta__?: Record<string, any> | undefined;

  constructor(value: string, __meta__?: Record<string, any> | undefined) {
    super(value);
    this.value = value;
    this.__meta__ = __meta__;
  }

  override toString(): string & DocumentTypeDecoration<TResult, TVariables> {
    return this.value;
  }
}

export const FollowDocument = new TypedDocumentString(`
    mutation Follow($refId: String!) {
  follow(refId: $refId) {
    refId
    isFollowed
  }
}
    `) as unknown as TypedDocumentString<FollowMutation, FollowMutationVariables>;
export const PublishDocument = new TypedDocumentString(`
    mutation Publish($input: PublishActionInput!) {
  publishAction(input: $input) {
    isReplay
    action {
      id
    }
  }
}
    `) as unknown as TypedDocumentString<PublishMutation, PublishMutationVariables>;
export const FeedDocument = new TypedDocumentString(`
    query Feed($first: Int, $filter: FeedFilter) {
  feed(first: $first, filter: $filter) {
    edges {
      node {
        action {
          id
          descriptor {
            summary
            ... on NewApplicantDescriptor {
              applicantName
            }
          }
        }
      }
    }
  }
}
    `) as unknown as TypedDocumentString<FeedQuery, FeedQueryVariables>;