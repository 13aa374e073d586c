import { MAX_ID_LENGTH } from '../../../src/descriptors/id-schema.ts';
import { MAX_READERS_PER_EVENT } from '../../../src/domain/host-event.ts';
import { MAX_PAGE_SIZE } from '../../../src/feed/page/paging.ts';
import { MAX_LISTED_RECEIVERS, webhookPayload, type WebhookState } from './webhook.ts';
import {
  type WebhookDeliveryView,
  type WebhookReceiverView,
  listWebhookDeliveries,
  listWebhookReceivers,
  retryWebhook,
  sendTestEvent,
} from './use-cases.ts';
import { builder } from '../../../src/graphql/builder.ts';
import { defineConnection, PAGE_COST, pageArgs, toConnection } from '../../../src/graphql/connection.ts';
import { describedEnum } from '../../../src/graphql/types/enums.ts';
import { EVENT_BYTES, HostEvent } from '../../events/src/api.ts';
import type { ListSize, Reads } from '../../../src/graphql/limits/cost.ts';

const WebhookStateEnum = describedEnum<WebhookState>(
  'WebhookState',
  'State of an event that a receiver has not accepted.',
  {
    RETRYING: 'It is retried at `nextAttemptAt`.',
    FAILED: 'It is no longer retried; `retryWebhook` retries it.',
  },
);

const WebhookDelivery = builder.objectRef<WebhookDeliveryView>('WebhookDelivery').implement({
  description: 'An event that a webhook receiver did not accept at the first attempt.',
  fields: (t) => ({
    id: t.expose('id', { type: 'ID', description: 'For `retryWebhook`.' }),
    url: t.exposeString('url', {
      description: 'URL of the receiver; without path and parameters for users of a tenant.',
    }),
    type: t.exposeString('type', { description: 'Type of the event.' }),
    payload: t.field({
      type: 'JSON',
      description: 'The current payload.',
      extensions: { maxBytes: EVENT_BYTES },
      resolve: ({ event }) => webhookPayload(event),
    }),
    event: t.expose('event', { type: HostEvent, nullable: true, description: 'The event.' }),
    attempts: t.exposeInt('attempts', {
      description: 'Number of failed attempts; 0: it waits for an earlier event of the same action.',
    }),
    state: t.expose('state', { type: WebhookStateEnum, description: 'Whether it is retried.' }),
    error: t.exposeString('error', { nullable: true, description: 'Why the last attempt failed.' }),
    nextAttemptAt: t.expose('nextAttemptAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it is retried; null if it is FAILED.',
    }),
  }),
});

const WebhookDeliveryConnection = defineConnection<WebhookDeliveryView>(
  'WebhookDelivery',
  WebhookDelivery,
  'webhook deliveries',
);

builder.queryField('webhookDeliveries', (t) =>
  t.field({
    type: WebhookDeliveryConnection,
    description:
      'Admin: webhook deliveries that failed or are being retried, newest event first. Deliveries accepted at the first attempt are not listed.',
    args: {
      state: t.arg({ type: WebhookStateEnum, description: 'Only those in this state. Default: all.' }),
      ...pageArgs(),
    },
    extensions: { ...PAGE_COST, maxBytes: MAX_PAGE_SIZE * MAX_READERS_PER_EVENT * MAX_ID_LENGTH },
    resolve: async (_root, args, context) =>
      toConnection(await listWebhookDeliveries(context.core, context.identity(), args), args),
  }),
);

builder.mutationField('retryWebhook', (t) =>
  t.field({
    type: WebhookDelivery,
    description:
      'Admin: retries a delivery immediately, and then for as long as a new one. It may arrive after later events of its action.',
    args: { id: t.arg.id({ required: true, description: 'Id of the delivery.' }) },
    resolve: (_root, { id }, context) =>
      context.mutate(({ identity }) => retryWebhook(context.core, identity, id)),
  }),
);

const WebhookReceiver = builder.objectRef<WebhookReceiverView>('WebhookReceiver').implement({
  description: 'A receiver of events that the settings of a process name: by HTTP, or a stream.',
  fields: (t) => ({
    url: t.exposeString('url', { description: 'Its URL, without a password.' }),
    behind: t.exposeInt('behind', { description: 'Events of the log that it has not been sent yet.' }),
    isSending: t.exposeBoolean('isSending', { description: 'Whether a process sends to it now.' }),
    seenAt: t.expose('seenAt', {
      type: 'DateTime',
      description: 'When a process last had it in its settings.',
    }),
  }),
});

builder.queryField('webhookReceivers', (t) =>
  t.field({
    type: [WebhookReceiver],
    description:
      'Admin: the receivers of events, by URL. Empty with tenants, since they and their figures are those of all.',
    extensions: { size: MAX_LISTED_RECEIVERS satisfies ListSize, reads: 25 satisfies Reads },
    resolve: (_root, _args, context) => listWebhookReceivers(context.core, context.identity()),
  }),
);

builder.mutationField('sendTestEvent', (t) =>
  t.field({
    type: 'ID',
    description:
      'Admin: sends an event of the type webhook.test to every receiver, in the way of all others, and returns its id. A receiver that does not take it is in webhookDeliveries. CONFLICT if no worker has a receiver in its settings.',
    resolve: (_root, _args, context) =>
      context.mutate(({ identity }) => sendTestEvent(context.core, identity)),
  }),
);
