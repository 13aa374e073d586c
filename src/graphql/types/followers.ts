import type { Follow as FollowRecord } from '../../domain/viewer.ts';
import { openSpanOf, type FollowSpan } from '../../domain/follow-span.ts';
import { isMutedMember } from '../../domain/mute.ts';
import { builder } from '../builder.ts';
import { defineConnection, PAGE_COST, pageArgs, toConnection } from '../connection.ts';
import { Member } from './member.ts';
import type { MemberSource } from './node.ts';
import { Ref } from './ref.ts';

interface FollowSource {
  readonly span: FollowSpan;
  readonly isAssigned: boolean;
}

const Follow = builder.objectRef<FollowSource>('Follow').implement({
  description: 'How the viewer follows something.',
  fields: (t) => ({
    since: t.field({
      type: 'DateTime',
      resolve: ({ span }) => span.since,
      description:
        'What was recorded from then on comes into the feed: past actions that came along included.',
    }),
    types: t.stringList({
      nullable: true,
      description: 'Only actions of these types come; null: of any.',
      resolve: ({ span }) => (span.types === undefined ? null : [...span.types]),
    }),
    isAssigned: t.exposeBoolean('isAssigned', {
      description:
        'Whether the host application assigned it to the viewer: what is done with its actions concerns them.',
    }),
  }),
});

/** The follow; `null`: not followed now. */
function toFollow(follow: FollowRecord | null): FollowSource | null {
  const span = openSpanOf(follow);
  return span === null ? null : { span, isAssigned: follow?.isAssigned === true };
}

const MemberConnection = defineConnection<MemberSource>('Member', Member, 'members');

builder.objectFields(Ref, (t) => ({
  follow: t.field({
    type: Follow,
    nullable: true,
    description: 'How the viewer follows it; null: not now.',
    resolve: async (source, _args, context) => toFollow(await context.session().follows.load(source.refId)),
  }),
  followers: t.field({
    type: MemberConnection,
    description: 'Admin and service: who follows it now, in order of member id.',
    args: pageArgs(),
    extensions: PAGE_COST,
    resolve: async (source, args, context) =>
      toConnection(await context.services.readFollowers(context.session(), source.refId, args), args),
  }),
}));

builder.objectFields(Member, (t) => ({
  followerCount: t.int({
    description: 'How many follow the person.',
    resolve: async ({ userId }, _args, context) =>
      (await context.session().refs.load(userId))?.followerCount ?? 0,
  }),
  isFollowed: t.boolean({
    description: 'Whether the viewer follows the person now.',
    resolve: async ({ userId }, _args, context) =>
      (await context.session().follows.load(userId))?.active ?? false,
  }),
  isMuted: t.boolean({
    description:
      'Whether the viewer mutes the person as a member, which unmute takes back. Mutes by ref are in viewer.mutes alone.',
    resolve: async ({ userId }, _args, context) =>
      isMutedMember((await context.session().profile()).mutes, userId),
  }),
}));
