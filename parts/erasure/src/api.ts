import { MAX_EXPORT_BYTES, memberExport } from './export-member.ts';
import type { ListSize, Reads } from '../../../src/graphql/limits/cost.ts';
import type { Erasure as ErasureRecord, ErasureState } from '../../../src/domain/erasure.ts';
import { builder } from '../../../src/graphql/builder.ts';
import { defineConnection, PAGE_COST, pageArgs, toConnection } from '../../../src/graphql/connection.ts';
import { describedEnum } from '../../../src/graphql/types/enums.ts';
import { eraseMember, readErasure, listErasures } from './erase-member.ts';

/** So high that an operation can contain only one export. */
const EXPORT_COST = { size: { usual: 6_000, most: 30_000 } satisfies ListSize, maxBytes: MAX_EXPORT_BYTES };

const ErasureStateEnum = describedEnum<ErasureState>('ErasureState', 'Progress of the erasure of a member.', {
  RUNNING: 'Stored data are being removed.',
  CONFIRMING: 'The data are removed. A second pass will remove anything that was being written meanwhile.',
  DONE: 'The second pass is complete. Only a hash of the member id is left, as proof of the erasure.',
});

const Erasure = builder.objectRef<ErasureRecord>('Erasure').implement({
  description: 'The erasure of a member.',
  fields: (t) => ({
    memberId: t.exposeString('memberId', {
      nullable: true,
      description: 'The erased member; null once only a hash of the id is left.',
    }),
    state: t.expose('state', { type: ErasureStateEnum, description: 'Its progress.' }),
    requestedBy: t.exposeString('requestedBy', { description: 'Member id of the admin who requested it.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When it was requested.' }),
    finishedAt: t.expose('finishedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it became DONE.',
    }),
    step: t.exposeString('step', { nullable: true, description: 'The current step.' }),
    changed: t.exposeInt('changed', { description: 'Documents removed or rewritten so far.' }),
  }),
});

const ErasureConnection = defineConnection<ErasureRecord>('Erasure', Erasure, 'erasures');

const memberIdArg = "The host application's own id of the person.";

builder.mutationField('eraseMember', (t) =>
  t.boolean({
    description:
      'Admin: erases a member. Feed, follows, marks and mutes are removed, actions and interactions are anonymised. Returns true when nothing names them any more; false if that continues in the background: query `erasure` or call again. Idempotent.',
    args: { memberId: t.arg.string({ required: true, description: memberIdArg }) },
    resolve: (_root, { memberId }, context) =>
      context.mutate(({ identity }) => eraseMember(context.core, identity, memberId)),
  }),
);

builder.queryFields((t) => ({
  erasure: t.field({
    type: Erasure,
    nullable: true,
    description: 'Admin: progress of the erasure of a member; null if there was none.',
    args: { memberId: t.arg.string({ required: true, description: memberIdArg }) },
    extensions: { reads: 10 satisfies Reads },
    resolve: (_root, { memberId }, context) => readErasure(context.core, context.identity(), memberId),
  }),
  erasures: t.field({
    type: ErasureConnection,
    description: 'Admin: erasures, latest request first.',
    args: pageArgs(),
    extensions: PAGE_COST,
    resolve: async (_root, args, context) =>
      toConnection(await listErasures(context.core, context.identity(), args), args),
  }),
  memberExport: t.field({
    type: 'JSON',
    description:
      'Admin or the member: everything stored about a member, up to 4 MiB. CONFLICT beyond that; `fanfare export` writes it to a file.',
    args: { memberId: t.arg.string({ required: true, description: memberIdArg }) },
    extensions: EXPORT_COST,
    resolve: (_root, { memberId }, context) => memberExport(context.core, context.session(), memberId),
  }),
}));
