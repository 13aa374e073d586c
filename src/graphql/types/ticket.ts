import type { Ticket as TicketSource } from '../../services/shapes.ts';
import { builder } from '../builder.ts';

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
