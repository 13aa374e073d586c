import { builder } from '../../../graphql/builder.ts';
import type { ListArgument } from '../../../graphql/limits/variables.ts';
import { MAX_FOLLOW_TYPES, follow, followMany } from '../follow.ts';
import { MAX_ENTRIES_PER_CALL } from '../../directory/directory.ts';
import { Ref } from '../../directory/api/ref.ts';
import { unfollowMany, unfollow } from '../unfollow.ts';

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
