import { HOST_EVENT_TYPES } from '../../domain/host-event.ts';
import type { HostEventView } from '../../domain/host-event-data.ts';
import { DEFAULT_EVENTS, MAX_EVENTS } from '../../services/events/host-events.ts';
import { builder } from '../builder.ts';
import { defineConnection, toConnection } from '../connection.ts';
import type { PageSize } from '../limits/cost.ts';

export const HostEvent = builder.objectRef<HostEventView>('HostEvent').implement({
  description: 'Something that happened, told to the host application.',
  fields: (t) => ({
    id: t.field({
      type: 'ID',
      description: 'The same in every page and in every webhook: drop what you have seen.',
      resolve: ({ id }) => id,
    }),
    type: t.exposeString('type', { description: `One of ${HOST_EVENT_TYPES.join(', ')}.` }),
    at: t.field({ type: 'DateTime', description: 'When it happened.', resolve: ({ at }) => at }),
    data: t.field({
      type: 'JSON',
      description:
        'Ids of what it is about, never a text of anybody; docs/events.md has the shape of each type.',
      resolve: ({ data }) => data,
    }),
  }),
});

const HostEventConnection = defineConnection<HostEventView>('HostEvent', HostEvent, 'host events');

const PAGE: { readonly page: PageSize } = {
  page: { argument: 'first', default: DEFAULT_EVENTS, max: MAX_EVENTS },
};

builder.queryField('hostEvents', (t) =>
  t.field({
    type: HostEventConnection,
    description:
      'Admin and service. What happened, in order, the oldest first. To be told of everything, go on from endCursor: it ' +
      'is there on an empty page too. BAD_CURSOR where events behind the cursor are not kept any more. Empty where ' +
      'EVENT_RETENTION is off.',
    args: {
      first: t.arg.int({
        description: `How many, 1 to ${String(MAX_EVENTS)}; ${String(DEFAULT_EVENTS)} when absent. A page can be shorter where its events name very many readers.`,
      }),
      after: t.arg.string({
        description: 'The endCursor of an earlier page; absent: the oldest that is kept.',
      }),
      types: t.arg.stringList({ description: 'Only events of these types; absent: all.' }),
    },
    extensions: PAGE,
    resolve: async (_root, args, context) =>
      toConnection(await context.services.readHostEvents(context.identity(), args), args),
  }),
);
