import type { Follow as FollowRecord } from '../../../domain/viewer.ts';
import { openSpanOf, type FollowSpan } from '../../../domain/follow-span.ts';
import { MAX_TYPE_NAME } from '../../../descriptors/check.ts';
import { MAX_FOLLOW_TYPES } from '../follow.ts';
import { isMutedMember } from '../../../domain/mute.ts';
import { builder } from '../../../graphql/builder.ts';
import { PAGE_COST, pageArgs, toConnection } from '../../../graphql/connection.ts';
import { Member, MemberConnection } from '../../directory/api/member.ts';
import { Ref } from '../../directory/api/ref.ts';
import { readFollowers } from '../followers.ts';
import { FOLLOW } from '../own-follows.ts';
import { REF } from '../../directory/names.ts';

interface FollowSource {
  readonly span: FollowSpan;
  readonly isAssigned: boolean;
}

const Follow = builder.objectRef<FollowSource>('Follow').implement({
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
  return span === null ? null : { span, isAssigned: follow?.isAssigned === true };
}

builder.objectFields(Ref, (t) => ({
  follow: t.field({
    type: Follow,
    nullable: true,
    description: "The viewer's follow; null: the viewer does not follow it.",
    resolve: async (source, _args, context) => toFollow(await context.session().load(FOLLOW, source.refId)),
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
    resolve: async ({ userId }, _args, context) =>
      (await context.session().load(REF, userId))?.followerCount ?? 0,
  }),
  isFollowed: t.boolean({
    description: 'Whether the viewer follows the person now.',
    resolve: async ({ userId }, _args, context) =>
      (await context.session().load(FOLLOW, userId))?.active ?? false,
  }),
  isMuted: t.boolean({
    description: 'Whether the viewer mutes the person by memberId. Mutes by ref are only in viewer.mutes.',
    resolve: async ({ userId }, _args, context) =>
      isMutedMember((await context.session().profile()).mutes, userId),
  }),
}));
