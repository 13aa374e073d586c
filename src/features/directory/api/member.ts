import type { Member as MemberRecord } from '../../../domain/member.ts';
import { nameIn } from '../../../descriptors/registry.ts';
import { nameOfUnknown } from '../../../domain/erasure.ts';
import { builder } from '../../../graphql/builder.ts';
import type { ListArgument } from '../../../graphql/limits/variables.ts';
import { MAX_ENTRIES_PER_CALL, upsertMembers } from '../directory.ts';
import { defineConnection, PAGE_COST, pageArgs, toConnection } from '../../../graphql/connection.ts';
import type { GraphQLContext } from '../../../graphql/context.ts';
import { SHARED } from '../../../graphql/shared-field.ts';
import { detailFields, detailInputs } from './details.ts';
import { Node, type MemberSource } from '../../../graphql/types/node.ts';
import { Ref, RefConnection } from './ref.ts';
import { readMember, readRef } from '../read-directory.ts';
import { MAX_SEARCH_LENGTH, searchMembers, searchRefs } from '../search.ts';
import { MEMBER, MEMBER_DETAILS } from '../../../feed/loads/names.ts';

const SEARCHED =
  'Case and accents do not matter. For admins and services; for everybody with DIRECTORY_SEARCH=members, then limited by DIRECTORY_SEARCH_LIMIT.';

builder.queryFields((t) => ({
  ref: t.field({
    type: Ref,
    nullable: true,
    description:
      'A thing, as the host application has described it, or else as the first action for everybody or for followers names it. Null if there is neither.',
    args: {
      refId: t.arg.string({ required: true, description: "The host application's own id of the thing." }),
    },
    resolve: (_root, { refId }, context) => readRef(context.session(), refId),
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
  members: t.field({
    type: MemberConnection,
    description: `Described members whose names have all words of \`search\`, in order of name. ${SEARCHED}`,
    args: { ...searchArg(), ...pageArgs() },
    extensions: PAGE_COST,
    resolve: async (_root, args, context) =>
      toConnection(await searchMembers(context.core, context.session(), args), args),
  }),
  refs: t.field({
    type: RefConnection,
    description: `Refs whose labels have all words of \`search\`, in order of label. ${SEARCHED}`,
    args: {
      ...searchArg(),
      type: t.arg.string({ description: 'Only refs of this type. Default: of all.' }),
      ...pageArgs(),
    },
    extensions: PAGE_COST,
    resolve: async (_root, args, context) =>
      toConnection(await searchRefs(context.core, context.session(), args), args),
  }),
}));

function searchArg() {
  return builder.args((t) => ({
    search: t.string({
      description: `Words, of which the last one may be incomplete, at most ${String(MAX_SEARCH_LENGTH)} characters. Default: all.`,
    }),
  }));
}

async function load(source: MemberSource, context: GraphQLContext): Promise<MemberRecord | null> {
  if (source.nobody != null) return null;
  return context.session().load(MEMBER, source.userId);
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
    ...detailFields(t, async (source, context) =>
      source.nobody == null ? context.session().load(MEMBER_DETAILS, source.userId) : null,
    ),
  }),
});

export const MemberConnection = defineConnection<MemberSource>('Member', Member, 'members');

const MemberInput = builder.inputType('MemberInput', {
  description: 'A person as described by the host application. Absent fields are cleared.',
  fields: (t) => ({
    memberId: t.string({ required: true, description: "The host application's own id of the person." }),
    name: t.string({ required: true, description: 'Name to show.' }),
    teamId: t.string({ description: 'The team the person is in.' }),
    departmentId: t.string({ description: 'The department the person is in.' }),
    supervisorId: t.string({ description: 'Member id of the supervisor.' }),
    email: t.string({
      description:
        'Mail address, at most 254 characters, for mails of the server. No field of the API shows it.',
    }),
    locale: t.string({
      description: 'The language of these mails, such as "de" or "de-AT". Default: English.',
    }),
    timeZone: t.string({
      description:
        'The time zone of these mails, such as "Europe/Berlin". Default: that of the quiet hours, or UTC.',
    }),
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
