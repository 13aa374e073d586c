import { builder } from '../builder.ts';
import { Member } from './member.ts';
import { Ref } from './ref.ts';
import { readMember, readRef } from '../../services/members/read-directory.ts';

builder.queryFields((t) => ({
  ref: t.field({
    type: Ref,
    nullable: true,
    description:
      'A thing, as the host application has described it, or else as the first action for everybody or for followers names it. Null if there is neither.',
    args: {
      refId: t.arg.string({ required: true, description: "The host application's own id of the thing." }),
    },
    resolve: (_root, { refId }, context) => readRef(context.core, context.session(), refId),
  }),
  member: t.field({
    type: Member,
    nullable: true,
    description: 'A person; null if the host application has never described them.',
    args: {
      memberId: t.arg.string({ required: true, description: "The host application's own id of the person." }),
    },
    resolve: (_root, { memberId }, context) => readMember(context.session(), memberId),
  }),
}));
