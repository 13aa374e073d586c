import { tenantOf } from '../../domain/stored-id.ts';
import { builder } from '../../graphql/builder.ts';
import { Member } from '../directory/api/member.ts';
import type { Ticket as TicketSource } from '../../core/shapes.ts';

const Ticket = builder.objectRef<TicketSource>('Ticket').implement({
  description: 'Opens event streams for clients that cannot send headers, such as EventSource.',
  fields: (t) => ({
    ticket: t.exposeString('ticket', {
      description: 'Put it into the URL: GET /graphql?ticket=…&query=… with a subscription.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      description: 'When it expires. An open stream ends when the token that requested the ticket expires.',
    }),
  }),
});

builder.mutationField('createTicket', (t) =>
  t.field({
    type: Ticket,
    description:
      'Creates a signed ticket for this viewer, for clients that cannot send headers. Within 60 seconds it opens any number of event streams (GET /graphql?ticket=…). Last-Event-ID is used as `after`.',
    resolve: (_root, _args, context) => context.core.tickets.sign(context.identity()),
  }),
);

/** The caller as given by the token; all data is loaded per field. */
export const Viewer = builder.objectRef<object>('Viewer').implement({
  description: 'The authenticated user.',
  fields: (t) => ({
    memberId: t.string({
      description: 'The user id of the token.',
      resolve: (_source, _args, context) => context.identity().userId,
    }),
    tenant: t.string({
      nullable: true,
      description: 'The tenant of the token, or the one that an operator names; null: there are no tenants.',
      resolve: (_source, _args, context) => tenantOf(context.identity().userId),
    }),
    member: t.field({
      type: Member,
      nullable: true,
      description: 'The viewer as a member; null if the host application has never described them.',
      resolve: async (_source, _args, context) => (await context.session().profile()).member,
    }),
    lastRead: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'The relevancy up to which everything has been read; null: nothing yet.',
      resolve: async (_source, _args, context) => (await context.session().profile()).lastRead,
    }),
  }),
});

builder.queryField('viewer', (t) =>
  t.field({ type: Viewer, description: 'The authenticated user.', resolve: () => ({}) }),
);
