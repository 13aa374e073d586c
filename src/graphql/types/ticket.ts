import type { Ticket as TicketSource } from '../../services/shapes.ts';
import { builder } from '../builder.ts';

const Ticket = builder.objectRef<TicketSource>('Ticket').implement({
  description: 'Opens event streams for clients that cannot send headers, such as EventSource.',
  fields: (t) => ({
    ticket: t.exposeString('ticket', {
      description: 'Goes into the URL: GET /graphql?ticket=…&query=… with a subscription.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      description:
        'Until then it opens streams. An open stream ends with the token of who asked for the ticket.',
    }),
  }),
});

builder.mutationField('createTicket', (t) =>
  t.field({
    type: Ticket,
    description:
      'Signed, for this viewer: opens event streams (GET /graphql?ticket=…) any number of times within 60 seconds, for ' +
      'clients that cannot send headers; Last-Event-ID serves as after.',
    resolve: (_root, _args, context) => context.services.createTicket(context.identity()),
  }),
);
