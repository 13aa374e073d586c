import { builder } from '../builder.ts';
import type { ListArgument } from '../limits/variables.ts';
import { MAX_FOLLOW_TYPES } from '../../services/follow/follow.ts';
import { MAX_ENTRIES_PER_CALL } from '../../services/members/directory.ts';
import { Ref } from './ref.ts';

const FollowInput = builder.inputType('FollowInput', {
  description: 'Who follows what.',
  fields: (t) => ({
    followerId: t.string({ required: true, description: 'Member id of the follower.' }),
    refId: t.string({ required: true, description: 'What is followed.' }),
    types: t.stringList({
      description:
        'Only actions of these types come; null: of any. Absent: as before; of any, where nothing is followed. What ' +
        'came by others stays.',
      extensions: { maxEntries: MAX_FOLLOW_TYPES } satisfies ListArgument,
    }),
    isAssigned: t.boolean({
      description:
        'Whether the follower is responsible for it: what is done with its actions brings them to the top. Absent or ' +
        'null: as before; false, where nothing is followed.',
    }),
  }),
});

const FollowPairInput = builder.inputType('FollowPairInput', {
  description: 'Who does not follow what any more.',
  fields: (t) => ({
    followerId: t.string({ required: true, description: 'Member id of the follower.' }),
    refId: t.string({ required: true, description: 'What is not followed any more.' }),
  }),
});

builder.mutationFields((t) => ({
  follow: t.field({
    type: Ref,
    description:
      'Follows a user, a site, anything that has an id: opens a follow span. CONFLICT beyond 200 of one follow.',
    args: {
      refId: t.arg.string({ required: true, description: 'What to follow.' }),
      copyLimit: t.arg.int({
        defaultValue: 100,
        description:
          'How many past actions of the ref come with it, 0 to 1000; also where it is followed already. Counts only ' +
          'actions of the types.',
      }),
      types: t.arg.stringList({
        description:
          'Only actions of these types come; null: of any. Absent: as before; of any, where nothing is followed. What ' +
          'came by others stays.',
        extensions: { maxEntries: MAX_FOLLOW_TYPES } satisfies ListArgument,
      }),
    },
    resolve: (_root, { refId, copyLimit, types }, context) =>
      context.mutate((session) => context.services.follow(session, refId, copyLimit, types)),
  }),
  unfollow: t.field({
    type: Ref,
    description:
      'Closes the span: nothing new comes. keepHistory false also removes what came only through this follow.',
    args: {
      refId: t.arg.string({ required: true, description: 'What not to follow any more.' }),
      keepHistory: t.arg.boolean({ defaultValue: true, description: 'Whether what came stays.' }),
    },
    resolve: (_root, { refId, keepHistory }, context) =>
      context.mutate((session) => context.services.unfollow(session, refId, keepHistory ?? true)),
  }),
  followMany: t.int({
    description:
      'Service: at most 1000 pairs; follows on behalf of members, without copying history. Returns how many were given.',
    args: {
      pairs: t.arg({
        type: [FollowInput],
        required: true,
        description: 'Each pair at most once.',
        extensions: { maxEntries: MAX_ENTRIES_PER_CALL } satisfies ListArgument,
      }),
    },
    resolve: (_root, { pairs }, context) =>
      context.mutate(({ identity }) => context.services.followMany(identity, pairs)),
  }),
  unfollowMany: t.int({
    description:
      'Service: at most 1000 pairs; ends follows on behalf of members. keepHistory false also removes what came only ' +
      'through them; who watches is sent FeedResync. Returns how many were given.',
    args: {
      pairs: t.arg({
        type: [FollowPairInput],
        required: true,
        description: 'Each pair at most once.',
        extensions: { maxEntries: MAX_ENTRIES_PER_CALL } satisfies ListArgument,
      }),
      keepHistory: t.arg.boolean({ defaultValue: true, description: 'Whether what came stays.' }),
    },
    resolve: (_root, { pairs, keepHistory }, context) =>
      context.mutate(({ identity }) => context.services.unfollowMany(identity, pairs, keepHistory ?? true)),
  }),
}));
