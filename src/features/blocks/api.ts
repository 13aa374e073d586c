import { MAX_BLOCKS } from '../../domain/block.ts';
import { builder } from '../../graphql/builder.ts';
import { PAGE_COST, pageArgs, toConnection } from '../../graphql/connection.ts';
import { Viewer } from '../viewer/api.ts';
import { Member, MemberConnection } from '../directory/api/member.ts';
import { blocksMember } from '../../feed/loads/own-blocks.ts';
import { blockMember, readBlocks, unblockMember } from './blocks.ts';

builder.objectField(Viewer, 'blocks', (t) =>
  t.field({
    type: MemberConnection,
    description: 'Members whom the viewer blocks, the newest first. Nobody sees who blocks them.',
    args: pageArgs(),
    extensions: PAGE_COST,
    resolve: async (_source, args, context) =>
      toConnection(await readBlocks(context.core, context.session(), args), args),
  }),
);

builder.objectField(Member, 'isBlocked', (t) =>
  t.boolean({
    description: 'Whether the viewer blocks the person.',
    resolve: ({ userId }, _args, context) => blocksMember(context.session(), userId),
  }),
);

const memberId = { required: true, description: "The host application's own id of the member." } as const;

builder.mutationFields((t) => ({
  blockMember: t.field({
    type: Viewer,
    description: `From now on neither sees the other's actions, interactions and profile, nor can interact with, mention or follow the other; follows between them end. The other is not told. Admins, moderators and services are not affected. Idempotent. CONFLICT beyond ${String(MAX_BLOCKS)} blocks.`,
    args: { memberId: t.arg.string(memberId) },
    async resolve(_root, { memberId: id }, context) {
      await context.mutate((session) => blockMember(context.core, session, id));
      return {};
    },
  }),
  unblockMember: t.field({
    type: Viewer,
    description: 'Ends a block. Follows stay ended. Has no effect if there is none.',
    args: { memberId: t.arg.string(memberId) },
    async resolve(_root, { memberId: id }, context) {
      await context.mutate((session) => unblockMember(context.core, session, id));
      return {};
    },
  }),
}));
