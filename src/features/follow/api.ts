import { builder } from '../../graphql/builder.ts';
import type { ListArgument } from '../../graphql/limits/variables.ts';
import { MAX_FOLLOW_TYPES, follow, followMany } from './follow.ts';
import { MAX_ENTRIES_PER_CALL } from '../directory/directory.ts';
import { Ref, RefConnection } from '../directory/api/ref.ts';
import { Viewer } from '../viewer/api.ts';
import { unfollowMany, unfollow } from './unfollow.ts';
import type { Follow as FollowRecord } from '../../domain/viewer.ts';
import { openSpanOf, type FollowSpan } from '../../domain/follow-span.ts';
import { MAX_TYPE_NAME } from '../../descriptors/check.ts';
import { isMutedMember } from '../../domain/mute.ts';
import { PAGE_COST, pageArgs, toConnection } from '../../graphql/connection.ts';
import { Member, MemberConnection } from '../directory/api/member.ts';
import { following, readFollowers } from './followers.ts';
import { ownFollow } from '../../feed/loads/own-follows.ts';
import { REF } from '../../feed/loads/names.ts';

const FollowInput = builder.inputType('FollowInput', {
  description: 'A follower and a ref.',
  fields: (t) => ({
    followerId: t.string({ required: true, description: 'Member id of the follower.' }),
    refId: t.string({ required: true, description: 'The ref to follow.' }),
    types: t.stringList({
      description:
        'Delivers only actions of these types; null: of all types. Default: unchanged; all types for a new follow. Actions of other types that were already delivered stay.',
      extensions: { maxEntries: MAX_FOLLOW_TYPES } satisfies ListArgument,
    }),
    isAssigned: t.boolean({
      description:
        'Whether the follower is responsible for it: interactions then bump its actions fully. Default: unchanged; false for a new follow.',
    }),
  }),
});

const FollowPairInput = builder.inputType('FollowPairInput', {
  description: 'A follow to end.',
  fields: (t) => ({
    followerId: t.string({ required: true, description: 'Member id of the follower.' }),
    refId: t.string({ required: true, description: 'The ref to unfollow.' }),
  }),
});

builder.mutationFields((t) => ({
  follow: t.field({
    type: Ref,
    description:
      'Follows a user, a site, anything that has an id: opens a follow span. CONFLICT beyond 200 of one follow.',
    args: {
      refId: t.arg.string({ required: true, description: 'The ref to follow.' }),
      copyLimit: t.arg.int({
        defaultValue: 100,
        description:
          'Number of past actions of the ref to deliver, 0 to 1000, even if it is already followed. Only actions of `types` count.',
      }),
      types: t.arg.stringList({
        description:
          'Delivers only actions of these types; null: of all types. Default: unchanged; all types for a new follow. Actions of other types that were already delivered stay.',
        extensions: { maxEntries: MAX_FOLLOW_TYPES } satisfies ListArgument,
      }),
    },
    resolve: (_root, { refId, copyLimit, types }, context) =>
      context.mutate((session) => follow(context.core, session, refId, copyLimit, types)),
  }),
  unfollow: t.field({
    type: Ref,
    description:
      'Ends a follow: no new actions are delivered. With keepHistory false, also removes actions that were delivered only by this follow.',
    args: {
      refId: t.arg.string({ required: true, description: 'The ref to unfollow.' }),
      keepHistory: t.arg.boolean({
        defaultValue: true,
        description: 'Whether delivered actions stay in the feed.',
      }),
    },
    resolve: (_root, { refId, keepHistory }, context) =>
      context.mutate((session) => unfollow(context.core, session, refId, keepHistory ?? true)),
  }),
  followMany: t.int({
    description:
      'Service: follows on behalf of members, at most 1000 pairs, without past actions. Returns the number of pairs.',
    args: {
      pairs: t.arg({
        type: [FollowInput],
        required: true,
        description: 'Of a pair given twice, the last value of each option counts.',
        extensions: { maxEntries: MAX_ENTRIES_PER_CALL } satisfies ListArgument,
      }),
    },
    resolve: (_root, { pairs }, context) =>
      context.mutate(({ identity }) => followMany(context.core, identity, pairs)),
  }),
  unfollowMany: t.int({
    description:
      'Service: ends follows on behalf of members, at most 1000 pairs. With keepHistory false, also removes actions that were delivered only by them; watchers get FeedResync. Returns the number of pairs.',
    args: {
      pairs: t.arg({
        type: [FollowPairInput],
        required: true,
        description: 'A pair given twice counts once.',
        extensions: { maxEntries: MAX_ENTRIES_PER_CALL } satisfies ListArgument,
      }),
      keepHistory: t.arg.boolean({
        defaultValue: true,
        description: 'Whether delivered actions stay in the feed.',
      }),
    },
    resolve: (_root, { pairs, keepHistory }, context) =>
      context.mutate(({ identity }) => unfollowMany(context.core, identity, pairs, keepHistory ?? true)),
  }),
}));

interface FollowSource {
  readonly span: FollowSpan;
  readonly isAssigned: boolean;
  readonly lists: readonly string[];
}

export const Follow = builder.objectRef<FollowSource>('Follow').implement({
  description: 'Options of a follow of the viewer.',
  fields: (t) => ({
    since: t.field({
      type: 'DateTime',
      resolve: ({ span }) => span.since,
      description:
        'Actions recorded from this time on are in the feed, including past actions that the follow delivered.',
    }),
    types: t.stringList({
      nullable: true,
      description: 'Only actions of these types are delivered; null: of all types.',
      extensions: { maxBytes: MAX_FOLLOW_TYPES * MAX_TYPE_NAME },
      resolve: ({ span }) => (span.types === undefined ? null : [...span.types]),
    }),
    isAssigned: t.exposeBoolean('isAssigned', {
      description:
        'Whether the host application made the viewer responsible for it: interactions bump its actions fully.',
    }),
  }),
});

/** The follow; `null`: not followed now. */
function toFollow(follow: FollowRecord | null): FollowSource | null {
  const span = openSpanOf(follow);
  return span === null ? null : { span, isAssigned: follow?.isAssigned === true, lists: follow?.lists ?? [] };
}

builder.objectFields(Ref, (t) => ({
  follow: t.field({
    type: Follow,
    nullable: true,
    description: "The viewer's follow; null: the viewer does not follow it.",
    resolve: async (source, _args, context) => toFollow(await ownFollow(context.session(), source)),
  }),
  followers: t.field({
    type: MemberConnection,
    description: 'Admin and service: its current followers, by member id.',
    args: pageArgs(),
    extensions: PAGE_COST,
    resolve: async (source, args, context) =>
      toConnection(await readFollowers(context.core, context.session(), source.refId, args), args),
  }),
}));

builder.objectFields(Member, (t) => ({
  followerCount: t.int({
    description: 'Number of followers of the person.',
    resolve: async (source, _args, context) =>
      (source.nobody ?? (await context.session().load(REF, source.userId)))?.followerCount ?? 0,
  }),
  isFollowed: t.boolean({
    description: 'Whether the viewer follows the person now.',
    resolve: async ({ userId, nobody }, _args, context) =>
      (await ownFollow(context.session(), nobody ?? { refId: userId }))?.active ?? false,
  }),
  isMuted: t.boolean({
    description: 'Whether the viewer mutes the person by memberId. Mutes by ref are only in viewer.mutes.',
    resolve: async ({ userId }, _args, context) =>
      isMutedMember((await context.session().profile()).mutes, userId),
  }),
}));

builder.objectFields(Viewer, (t) => ({
  following: t.field({
    type: RefConnection,
    description: 'Refs that the viewer follows.',
    args: pageArgs(),
    extensions: PAGE_COST,
    resolve: async (_source, args, context) =>
      toConnection(await following(context.core, context.session(), args), args),
  }),
}));
