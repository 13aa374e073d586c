import { MAX_ID_LENGTH } from '../../../src/descriptors/id-schema.ts';
import {
  HOST_EVENT_TYPES,
  MAX_READERS_PER_PAGE,
  type HostEventView,
} from '../../../src/domain/host-event.ts';
import { builder } from '../../../src/graphql/builder.ts';
import { defineConnection, pageArgs, pageCost, toConnection } from '../../../src/graphql/connection.ts';
import { EVENTS, readHostEvents } from './host-events.ts';

/** Size of an event without the readers it names, which count for all events of a page together. */
export const EVENT_BYTES = 2_048;

export const HostEvent = builder.objectRef<HostEventView>('HostEvent').implement({
  description: 'An event for the host application.',
  fields: (t) => ({
    id: t.expose('id', {
      type: 'ID',
      description: 'The same on every page and in every webhook. Ignore events whose id you have seen.',
    }),
    type: t.exposeString('type', { description: `One of ${HOST_EVENT_TYPES.join(', ')}.` }),
    at: t.expose('at', { type: 'DateTime', description: 'When it happened.' }),
    data: t.expose('data', {
      type: 'JSON',
      description:
        'Ids of the things concerned, never text written by anybody; docs/events.md describes the shape of each type.',
      extensions: { maxBytes: EVENT_BYTES },
    }),
  }),
});

const HostEventConnection = defineConnection<HostEventView>('HostEvent', HostEvent, 'host events');

builder.queryField('hostEvents', (t) =>
  t.field({
    type: HostEventConnection,
    description:
      'Admin and service: events in order, oldest first. To get every event, continue after endCursor, which an empty page has as well. A page can be shorter if its events name very many readers. BAD_CURSOR if events after the cursor have been deleted. Empty if EVENT_RETENTION is off.',
    args: {
      ...pageArgs(EVENTS),
      types: t.arg.stringList({ description: 'Only events of these types. Default: all.' }),
    },
    extensions: { page: pageCost(EVENTS), maxBytes: MAX_READERS_PER_PAGE * MAX_ID_LENGTH },
    resolve: async (_root, args, context) =>
      toConnection(await readHostEvents(context.core, context.identity(), args), args),
  }),
);
