import type { Member as MemberRecord } from '../../domain/member.ts';
import { nameIn } from '../../descriptors/registry.ts';
import { nameOfUnknown } from '../../domain/pseudonym.ts';
import { builder } from '../builder.ts';
import type { ListArgument } from '../limits/variables.ts';
import { MAX_ENTRIES_PER_CALL, upsertMembers } from '../../services/members/directory.ts';
import type { GraphQLContext } from '../context.ts';
import { SHARED } from '../shared-field.ts';
import { detailFields, detailInputs } from './details.ts';
import { Node, type MemberSource } from './node.ts';

function load(source: MemberSource, context: GraphQLContext): Promise<MemberRecord | null> {
  return context.session().members.load(source.userId);
}

export const Member = builder.objectRef<MemberSource>('Member').implement({
  description: 'A person as described by the host application. Without a description, the name is the id.',
  interfaces: [Node],
  fields: (t) => ({
    memberId: t.exposeString('userId', {
      description: "The host application's own id of the person.",
      extensions: SHARED,
    }),
    name: t.string({
      description: 'Name to show; the member id if there is none.',
      extensions: SHARED,
      resolve: async (source, _args, context) =>
        nameIn(context.locale, (await load(source, context))?.name ?? nameOfUnknown(source.userId)),
    }),
    teamId: t.string({
      nullable: true,
      description: 'The team the person is in now.',
      extensions: SHARED,
      resolve: async (source, _args, context) => (await load(source, context))?.teamId ?? null,
    }),
    departmentId: t.string({
      nullable: true,
      description: 'The department the person is in now.',
      extensions: SHARED,
      resolve: async (source, _args, context) => (await load(source, context))?.departmentId ?? null,
    }),
    supervisorId: t.string({
      nullable: true,
      description: 'Member id of the supervisor.',
      extensions: SHARED,
      resolve: async (source, _args, context) => (await load(source, context))?.supervisorId ?? null,
    }),
    ...detailFields(t, (source, context) => context.session().memberDetails.load(source.userId)),
  }),
});

const MemberInput = builder.inputType('MemberInput', {
  description: 'A person as described by the host application. Absent fields are cleared.',
  fields: (t) => ({
    memberId: t.string({ required: true, description: "The host application's own id of the person." }),
    name: t.string({ required: true, description: 'Name to show.' }),
    teamId: t.string({ description: 'The team the person is in.' }),
    departmentId: t.string({ description: 'The department the person is in.' }),
    supervisorId: t.string({ description: 'Member id of the supervisor.' }),
    ...detailInputs(t),
  }),
});

builder.mutationField('upsertMembers', (t) =>
  t.int({
    description:
      'Service: stores the current state of members, at most 1000. Returns the number of members given.',
    args: {
      members: t.arg({
        type: [MemberInput],
        required: true,
        description: 'Of a member given twice, the last record counts.',
        extensions: { maxEntries: MAX_ENTRIES_PER_CALL } satisfies ListArgument,
      }),
    },
    resolve: (_root, { members }, context) =>
      context.mutate(({ identity }) => upsertMembers(context.core, identity, members)),
  }),
);
