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

/** Which actions; conditions that are given must all hold. */
export type ActionFilter = {
  /** By one of these actors. */
  actorIds?: InputMaybe<Array<Scalars['String']['input']>>;
  /** With this value in a field of the descriptor. */
  descriptor?: InputMaybe<DescriptorFieldFilter>;
  /** Conducted then or later. */
  since?: InputMaybe<Scalars['DateTime']['input']>;
  /**
   * With this tag.
   * @deprecated Use tags.
   */
  tag?: InputMaybe<Scalars['String']['input']>;
  /** With any of these tags. */
  tags?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Of one of these types, such as ApplicationRating. An unknown one is BAD_USER_INPUT. */
  types?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Conducted before. */
  until?: InputMaybe<Scalars['DateTime']['input']>;
};

/** An applicant was hired for a position. */
export type ApplicantHiredInput = {
  /** Who was hired. */
  applicantId: Scalars['String']['input'];
  /** Name of the applicant. */
  applicantName: Scalars['String']['input'];
  /** The position filled. */
  positionId: Scalars['String']['input'];
  /** Name of the position. */
  positionName: Scalars['String']['input'];
  /** Free words to filter by, at most 32. */
  tags?: InputMaybe<Array<Scalars['String']['input']>>;
};

/** Somebody was asked to rate an applicant. */
export type ApplicantRatingRequestedInput = {
  /** Who is to be rated. */
  applicantId: Scalars['String']['input'];
  /** Name of the applicant. */
  applicantName: Scalars['String']['input'];
  /** Who was asked. */
  requestedFromId: Scalars['String']['input'];
  /** Name of who was asked. */
  requestedFromName: Scalars['String']['input'];
  /** Free words to filter by, at most 32. */
  tags?: InputMaybe<Array<Scalars['String']['input']>>;
};

/** Somebody rated an applicant for a position. */
export type ApplicationRatingInput = {
  /** Who was rated. */
  applicantId: Scalars['String']['input'];
  /** Name of the applicant. */
  applicantName: Scalars['String']['input'];
  /** The position applied for. */
  positionId: Scalars['String']['input'];
  /** Name of the position. */
  positionName: Scalars['String']['input'];
  /** Who rated. Must be the actor unless a service publishes. */
  raterId: Scalars['String']['input'];
  /** Name of the rater. */
  raterName: Scalars['String']['input'];
  /** The score, 0 to 100 on whatever scale the application uses. */
  ratingScore: Scalars['Float']['input'];
  /** What the rater wrote. */
  ratingText?: InputMaybe<Scalars['String']['input']>;
  /** Free words to filter by, at most 32. */
  tags?: InputMaybe<Array<Scalars['String']['input']>>;
};

/** Somebody commented on a post. */
export type CommentedInput = {
  /** The comment. */
  commentId: Scalars['String']['input'];
  /** The post commented on. */
  postId: Scalars['String']['input'];
  /** Title of the post. */
  postTitle?: InputMaybe<Scalars['String']['input']>;
  /** Free words to filter by, at most 32. */
  tags?: InputMaybe<Array<Scalars['String']['input']>>;
  /** What the comment says. */
  text?: InputMaybe<Scalars['String']['input']>;
};

/** Anything else: a verb with an object, an optional target and free data (at most 16 KiB). */
export type CustomInput = {
  /** Free data of the application. */
  data?: InputMaybe<Scalars['JSON']['input']>;
  /** The thing it was done to. */
  objectId: Scalars['String']['input'];
  /** What kind of thing it was done to, such as "post". */
  objectType: Scalars['String']['input'];
  /** Free words to filter by, at most 32. */
  tags?: InputMaybe<Array<Scalars['String']['input']>>;
  /** What the object belongs to or was done for. */
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
  /** The reader is mentioned. */
  | 'MENTION'
  /** The reader follows a ref with very many followers; the action is fetched on read. */
  | 'PULL'
  /** The reader is a recipient of the restricted action. */
  | 'RECIPIENT'
  /** Somebody the reader follows passed on a PUBLIC action. */
  | 'RESHARE'
  /** The reader is in the actor's team. */
  | 'TEAM';

/** A field that its type declares as indexed, such as `{field: "raterId", value: "john"}`. */
export type DescriptorFieldFilter = {
  /** Its name. One that no type declares as indexed is BAD_USER_INPUT. */
  field: Scalars['String']['input'];
  /** Its value, exactly. */
  value: Scalars['String']['input'];
};

/** What the action was about: exactly one of these. */
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
  |  /** Somebody began to follow a person or a thing. */
  { applicantHired?: never; applicantRatingRequested?: never; applicationRating?: never; commented?: never; custom?: never; followed: FollowedInput; liked?: never; newApplicant?: never; posted?: never; }
  |  /** Somebody liked something. */
  { applicantHired?: never; applicantRatingRequested?: never; applicationRating?: never; commented?: never; custom?: never; followed?: never; liked: LikedInput; newApplicant?: never; posted?: never; }
  |  /** Somebody applied for a position. */
  { applicantHired?: never; applicantRatingRequested?: never; applicationRating?: never; commented?: never; custom?: never; followed?: never; liked?: never; newApplicant: NewApplicantInput; posted?: never; }
  |  /** Somebody posted something. */
  { applicantHired?: never; applicantRatingRequested?: never; applicationRating?: never; commented?: never; custom?: never; followed?: never; liked?: never; newApplicant?: never; posted: PostedInput; };

/** How far the erasure of a member is. */
export type ErasureState =
  /** It is gone; a second look is due, for what was being written meanwhile. */
  | 'CONFIRMING'
  /** The second look was taken. Only a hash of the member id is left, to prove the erasure by. */
  | 'DONE'
  /** What is stored is being removed. */
  | 'RUNNING';

/** How far the delivery of an action to feeds has come. */
export type FanOutState =
  /** Every feed agrees with the action as it was at this version. */
  | 'DONE'
  /** Given up after too many attempts; an admin can retry it. */
  | 'FAILED'
  /** A worker delivers it. */
  | 'IN_PROGRESS'
  /** Waits for a worker. */
  | 'PENDING';

/** Which entries of a feed; conditions that are given must all hold. */
export type FeedFilter = {
  /** Actions by one of these actors. */
  actorIds?: InputMaybe<Array<Scalars['String']['input']>>;
  /** What the viewer has archived, instead of the feed. */
  archived?: InputMaybe<Scalars['Boolean']['input']>;
  /** In the feed for any of these reasons. */
  reasons?: InputMaybe<Array<DeliveryReason>>;
  /** Actions that carry this ref id. */
  refId?: InputMaybe<Scalars['String']['input']>;
  /** At this time or later: relevancy in RELEVANCY and TOP, conducted in RECENT. */
  since?: InputMaybe<Scalars['DateTime']['input']>;
  /** What the viewer has snoozed, instead of the feed. Not together with archived. */
  snoozed?: InputMaybe<Scalars['Boolean']['input']>;
  /**
   * Actions with this tag.
   * @deprecated Use tags.
   */
  tag?: InputMaybe<Scalars['String']['input']>;
  /** Actions with any of these tags. */
  tags?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Actions of one of these types, such as ApplicationRating. An unknown one is BAD_USER_INPUT. */
  types?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Only what has not been read. */
  unreadOnly?: InputMaybe<Scalars['Boolean']['input']>;
  /** Before this time: relevancy in RELEVANCY and TOP, conducted in RECENT. */
  until?: InputMaybe<Scalars['DateTime']['input']>;
};

/** How a feed is ordered. */
export type FeedOrder =
  /** The newest first, by when it was conducted. */
  | 'RECENT'
  /** The most relevant to the reader first. */
  | 'RELEVANCY'
  /** The most engaging first. */
  | 'TOP';

/** Where a feed has an item from. */
export type FeedPath =
  /** It has none. Where nothing withholds it, its delivery is still under way. */
  | 'NONE'
  /** Looked up when the feed is read, for a ref with very many followers. */
  | 'PULLED'
  /** From the actions themselves: nothing is stored there. */
  | 'SOURCE'
  /** From what is stored of the feed. */
  | 'STORED';

/** Whether the stored part of a feed is complete. */
export type FeedState =
  /** The feed is complete. */
  | 'READY'
  /** The feed is being filled again in the background. */
  | 'REBUILDING';

/** Who follows what. */
export type FollowInput = {
  /** Member id of the follower. */
  followerId: Scalars['String']['input'];
  /** Whether the follower is responsible for it: what is done with its actions brings them to the top. Absent or null: as before; false, where nothing is followed. */
  isAssigned?: InputMaybe<Scalars['Boolean']['input']>;
  /** What is followed. */
  refId: Scalars['String']['input'];
  /** Only actions of these types come; null: of any. Absent: as before; of any, where nothing is followed. What came by others stays. */
  types?: InputMaybe<Array<Scalars['String']['input']>>;
};

/** Who does not follow what any more. */
export type FollowPairInput = {
  /** Member id of the follower. */
  followerId: Scalars['String']['input'];
  /** What is not followed any more. */
  refId: Scalars['String']['input'];
};

/** Somebody began to follow a person or a thing. */
export type FollowedInput = {
  /** Who or what is followed. */
  followedId: Scalars['String']['input'];
  /** Name of who or what is followed. */
  followedName: Scalars['String']['input'];
  /** Free words to filter by, at most 32. */
  tags?: InputMaybe<Array<Scalars['String']['input']>>;
};

/** What somebody did with an action. */
export type InteractionKind =
  /** Commented on it. */
  | 'COMMENT'
  /** Liked it. */
  | 'LIKE'
  /** Reacted with one of the configured reactions. */
  | 'REACTION'
  /** Passed it on. */
  | 'RESHARE';

/** Whether an interaction is seen and counted. */
export type InteractionState =
  /** By admins only, and not counted. */
  | 'HIDDEN'
  /** By nobody: it was taken back. */
  | 'REMOVED'
  /** By everybody who may see the action. */
  | 'VISIBLE';

/** How urgent a delivery is. */
export type Lane =
  /** Many actions at once, for which nobody waits. */
  | 'BULK'
  /** An action was published, or somebody interacted with it. */
  | 'LIVE'
  /** An action was hidden, shown again or deleted. */
  | 'URGENT';

/** Somebody liked something. */
export type LikedInput = {
  /** What was liked. */
  objectId: Scalars['String']['input'];
  /** Name of what was liked. */
  objectName?: InputMaybe<Scalars['String']['input']>;
  /** What kind of thing was liked, such as "post". */
  objectType: Scalars['String']['input'];
  /** Free words to filter by, at most 32. */
  tags?: InputMaybe<Array<Scalars['String']['input']>>;
};

/** A person as the host application describes them. Absent fields are emptied. */
export type MemberInput = {
  /** Free data, at most 4 KiB of JSON. */
  data?: InputMaybe<Scalars['JSON']['input']>;
  /** The department the person is in. */
  departmentId?: InputMaybe<Scalars['String']['input']>;
  /** An image of it: an https URL of at most 2048 characters. */
  imageUrl?: InputMaybe<Scalars['String']['input']>;
  /** The host application's own id of the person. */
  memberId: Scalars['String']['input'];
  /** Name to show. */
  name: Scalars['String']['input'];
  /** Member id of the supervisor. */
  supervisorId?: InputMaybe<Scalars['String']['input']>;
  /** The team the person is in. */
  teamId?: InputMaybe<Scalars['String']['input']>;
  /** Where to read more of it: an https URL of at most 2048 characters. */
  url?: InputMaybe<Scalars['String']['input']>;
};

/** What was done to an action. */
export type ModerationKind =
  /** Deleted for good. */
  | 'DELETE'
  /** Edited by somebody other than its actor. */
  | 'EDIT'
  /** A comment was given another text by an admin. */
  | 'EDIT_INTERACTION'
  /** Hidden from everybody but admins. */
  | 'HIDE'
  /** An interaction was hidden from everybody but admins. */
  | 'HIDE_INTERACTION'
  /** Shown again. */
  | 'UNHIDE'
  /** An interaction was shown again. */
  | 'UNHIDE_INTERACTION';

/** What to mute: exactly one of these. */
export type MuteTargetInput =
  /** What this member does. Not the viewer. */
  { memberId: Scalars['String']['input']; phrase?: never; refId?: never; type?: never; }
  |  /** What has these words one after the other, 1 to 5 of them in at most 100 characters: in one of the texts and names of its descriptor or the labels of its refs, as they are stored. Upper and lower case are the same. Not in summaries, tags, free data and comments. */
  { memberId?: never; phrase: Scalars['String']['input']; refId?: never; type?: never; }
  |  /** What refers to this; the id of a person also stands for what they do. */
  { memberId?: never; phrase?: never; refId: Scalars['String']['input']; type?: never; }
  |  /** Actions with this type of descriptor. */
  { memberId?: never; phrase?: never; refId?: never; type: Scalars['String']['input']; };

/** Somebody applied for a position. */
export type NewApplicantInput = {
  /** Who applied. */
  applicantId: Scalars['String']['input'];
  /** Name of the applicant. */
  applicantName: Scalars['String']['input'];
  /** The position applied for. */
  positionId: Scalars['String']['input'];
  /** Name of the position. */
  positionName: Scalars['String']['input'];
  /** Free words to filter by, at most 32. */
  tags?: InputMaybe<Array<Scalars['String']['input']>>;
};

/** All of the viewer's interactions of a kind with an action. */
export type OwnInteraction = {
  /** Global id of the action. */
  actionId: Scalars['ID']['input'];
  /** Of this kind. */
  kind: InteractionKind;
  /** Of a REACTION: only this one; absent: all of them. */
  reaction?: InputMaybe<Scalars['String']['input']>;
};

/** Somebody posted something. */
export type PostedInput = {
  /** The post. */
  postId: Scalars['String']['input'];
  /** Title of the post. */
  postTitle?: InputMaybe<Scalars['String']['input']>;
  /** Free words to filter by, at most 32. */
  tags?: InputMaybe<Array<Scalars['String']['input']>>;
  /** What the post says. */
  text?: InputMaybe<Scalars['String']['input']>;
};

/** An action to record. */
export type PublishActionInput = {
  /** Default: the viewer. Another actor needs the role service. */
  actorId?: InputMaybe<Scalars['String']['input']>;
  /** Default: now. Not more than five minutes in the future. */
  conducted?: InputMaybe<Scalars['DateTime']['input']>;
  /** What it was about. */
  descriptor: DescriptorInput;
  /** Later than now. From then on it is gone from every way in. Default: it stays. */
  expiresAt?: InputMaybe<Scalars['DateTime']['input']>;
  /** Unique per actor; a retry with the same key returns the first action. */
  idempotencyKey?: InputMaybe<Scalars['String']['input']>;
  /** Ids of the members who are mentioned. */
  mentions?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Readers of a RESTRICTED action, 1 to 1000 member ids. */
  recipients?: InputMaybe<Array<Scalars['String']['input']>>;
  /** The things it refers to. */
  refs?: InputMaybe<Array<RefInput>>;
  /** Whom it is for. */
  scope?: InputMaybe<Scope>;
};

/** An interaction with an action. */
export type RecordInteractionInput = {
  /** Global id of the action. */
  actionId: Scalars['ID']['input'];
  /** Who did it. Default: the viewer. Another member needs the role service. What they may not see is NOT_FOUND. */
  actorId?: InputMaybe<Scalars['String']['input']>;
  /** When. Default: now. Not more than five minutes in the future. */
  at?: InputMaybe<Scalars['DateTime']['input']>;
  /** Free data of the application, at most 4 KiB as JSON. */
  data?: InputMaybe<Scalars['JSON']['input']>;
  /** Unique per action, actor and kind; a retry with the same key changes nothing, also where what it gave was taken back. Without a key each comment counts; a like, a reshare and each reaction count once for each actor. */
  idempotencyKey?: InputMaybe<Scalars['String']['input']>;
  /** What was done. */
  kind: InteractionKind;
  /** Of a COMMENT: global id of the comment it replies to, which replies to none itself. Not visible: NOT_FOUND. */
  parentId?: InputMaybe<Scalars['ID']['input']>;
  /** Of a REACTION, which needs it: one of the configured. */
  reaction?: InputMaybe<Scalars['String']['input']>;
  /** Of a COMMENT: 1 to 10,000 characters. */
  text?: InputMaybe<Scalars['String']['input']>;
};

/** A thing as the host application describes it. upsertRefs empties the details that are absent; elsewhere details are BAD_USER_INPUT. */
export type RefInput = {
  /** Free data, at most 4 KiB of JSON. */
  data?: InputMaybe<Scalars['JSON']['input']>;
  /** The host application's own id of the thing. */
  id: Scalars['String']['input'];
  /** An image of it: an https URL of at most 2048 characters. */
  imageUrl?: InputMaybe<Scalars['String']['input']>;
  /** Its name. */
  label: Scalars['String']['input'];
  /** What kind of thing it is. */
  type: Scalars['String']['input'];
  /** Where to read more of it: an https URL of at most 2048 characters. */
  url?: InputMaybe<Scalars['String']['input']>;
};

/** What lifts an item. */
export type RelevancyCauseKind =
  /** A comment. */
  | 'COMMENT'
  /** That it happened. */
  | 'CONDUCTED'
  /** A like. */
  | 'LIKE'
  /** A reaction. */
  | 'REACTION'
  /** A reshare. */
  | 'RESHARE'
  /** Somebody the reader followed then passed it on. */
  | 'RESHARED_BY_FOLLOWED'
  /** That the reader had snoozed it until then. */
  | 'SNOOZE_ENDED';

/** What to take back. */
export type RemoveInteractionInput =
  /** Global id of the interaction. */
  { id: Scalars['ID']['input']; own?: never; }
  |  /** What the viewer did. */
  { id?: never; own: OwnInteraction; };

/** Whom an action is for. */
export type Scope =
  /** Members of the actor's department. */
  | 'DEPARTMENT'
  /** Followers of the actor or of one of the refs. */
  | 'FOLLOWERS'
  /** Everybody may see it; followers find it in their feeds. */
  | 'PUBLIC'
  /** The recipients that the action names, and nobody else. */
  | 'RESTRICTED'
  /** Members of the actor's team. */
  | 'TEAM';

/** What changes of an action: what is given replaces, what is absent stays. */
export type UpdateActionInput = {
  /** What it was about; of the same type. */
  descriptor?: InputMaybe<DescriptorInput>;
  /** Later than now. From then on it is gone from every way in; null: it stays. */
  expiresAt?: InputMaybe<Scalars['DateTime']['input']>;
  /** Ids of the members who are mentioned. */
  mentions?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Readers of a RESTRICTED action, 1 to 1000 member ids. */
  recipients?: InputMaybe<Array<Scalars['String']['input']>>;
  /** The things it refers to. */
  refs?: InputMaybe<Array<RefInput>>;
  /** Whom it is for. TEAM and DEPARTMENT: those that the actor has now. Recipients go unless it is RESTRICTED. */
  scope?: InputMaybe<Scope>;
};

/** What becomes of an event that a receiver has not taken. */
export type WebhookState =
  /** It was given up; `retryWebhook` tries it again. */
  | 'FAILED'
  /** It is tried again at `nextAttemptAt`. */
  | 'RETRYING';

/** What keeps an action out of a feed. */
export type WithheldReason =
  /** The reader archived the item. */
  | 'ARCHIVED'
  /** An admin hid it. Only admins see this. */
  | 'HIDDEN'
  /** The reader hid the item. */
  | 'HIDDEN_BY_READER'
  /** The reader mutes it. */
  | 'MUTED'
  /** Nothing brings it into the feed. */
  | 'NOT_ADDRESSED'
  /** The reader may not see it at all. Only admins see this. */
  | 'NOT_ENTITLED'
  /** The reader snoozed the item, and the time has not come yet. */
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