import type { Erasure as ErasureRecord, ErasureState } from '../../domain/erasure.ts';
import { ERASURE_STATES } from '../../domain/erasure.ts';
import { builder } from '../builder.ts';
import { defineConnection, PAGE_COST, pageArgs, toConnection } from '../connection.ts';
import { described } from './enums.ts';

/** So high that an operation can contain only one export. */
const EXPORT_COST = { size: 6_000 };

const ErasureStateEnum = builder.enumType('ErasureState', {
  description: 'How far the erasure of a member is.',
  values: described<ErasureState>(ERASURE_STATES, {
    RUNNING: 'What is stored is being removed.',
    CONFIRMING: 'It is gone; a second look is due, for what was being written meanwhile.',
    DONE: 'The second look was taken. Only a hash of the member id is left, to prove the erasure by.',
  }),
});

const Erasure = builder.objectRef<ErasureRecord>('Erasure').implement({
  description: 'The erasure of a member.',
  fields: (t) => ({
    memberId: t.exposeString('memberId', {
      nullable: true,
      description: 'Who is erased; null once only a hash of it is left.',
    }),
    state: t.field({ type: ErasureStateEnum, description: 'How far it is.', resolve: ({ state }) => state }),
    requestedBy: t.exposeString('requestedBy', { description: 'Member id of the admin who asked for it.' }),
    startedAt: t.field({
      type: 'DateTime',
      description: 'When it was asked for.',
      resolve: ({ startedAt }) => startedAt,
    }),
    finishedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was DONE.',
      resolve: ({ finishedAt }) => finishedAt,
    }),
    step: t.exposeString('step', { nullable: true, description: 'What is being worked on.' }),
    changed: t.exposeInt('changed', { description: 'Documents removed or rewritten so far.' }),
  }),
});

const ErasureConnection = defineConnection<ErasureRecord>('Erasure', Erasure, 'erasures');

const memberIdArg = "The host application's own id of the person.";

builder.mutationField('eraseMember', (t) =>
  t.boolean({
    description:
      'Admin. Erases a member: feed, follows, marks and mutes are removed, actions and interactions anonymised. True ' +
      'when nothing names them any more; false when that goes on in the background: ask `erasure`, or call again. ' +
      'Idempotent.',
    args: { memberId: t.arg.string({ required: true, description: memberIdArg }) },
    resolve: (_root, { memberId }, context) =>
      context.mutate(({ identity }) => context.services.eraseMember(identity, memberId)),
  }),
);

builder.queryFields((t) => ({
  erasure: t.field({
    type: Erasure,
    nullable: true,
    description: 'Admin. How far the erasure of a member is; null when there was none.',
    args: { memberId: t.arg.string({ required: true, description: memberIdArg }) },
    resolve: (_root, { memberId }, context) => context.services.readErasure(context.identity(), memberId),
  }),
  erasures: t.field({
    type: ErasureConnection,
    description: 'Admin: erasures, the latest that was asked for first.',
    args: pageArgs(),
    extensions: PAGE_COST,
    resolve: async (_root, args, context) =>
      toConnection(await context.services.listErasures(context.identity(), args), args),
  }),
  memberExport: t.field({
    type: 'JSON',
    description:
      'Admin, or the member. Everything held about a member, up to 4 MiB; beyond that CONFLICT, and ' +
      '`fanfare export` writes it to a file.',
    args: { memberId: t.arg.string({ required: true, description: memberIdArg }) },
    extensions: EXPORT_COST,
    resolve: (_root, { memberId }, context) => context.services.memberExport(context.session(), memberId),
  }),
}));
