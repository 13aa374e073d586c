import { WEBHOOK_STATES, webhookPayload, type WebhookState } from '../../domain/webhook.ts';
import type { WebhookDeliveryView } from '../../services/events/webhooks.ts';
import { builder } from '../builder.ts';
import { defineConnection, PAGE_COST, pageArgs, toConnection } from '../connection.ts';
import { described } from './enums.ts';
import { HostEvent } from './host-events.ts';

const WebhookStateEnum = builder.enumType('WebhookState', {
  description: 'What becomes of an event that a receiver has not taken.',
  values: described<WebhookState>(WEBHOOK_STATES, {
    RETRYING: 'It is tried again at `nextAttemptAt`.',
    FAILED: 'It was given up; `retryWebhook` tries it again.',
  }),
});

const WebhookDelivery = builder.objectRef<WebhookDeliveryView>('WebhookDelivery').implement({
  description: 'An event that a receiver of webhooks has not taken at the first attempt.',
  fields: (t) => ({
    id: t.field({ type: 'ID', description: 'For `retryWebhook`.', resolve: ({ id }) => id }),
    url: t.exposeString('url', {
      description: 'Of the receiver; for who is of a tenant without path and parameters.',
    }),
    type: t.exposeString('type', { description: 'Of the event.' }),
    payload: t.field({
      type: 'JSON',
      description: 'What would be sent now.',
      resolve: ({ event }) => webhookPayload(event),
    }),
    event: t.field({
      type: HostEvent,
      nullable: true,
      description: 'What it tells of.',
      resolve: ({ event }) => event,
    }),
    attempts: t.exposeInt('attempts', {
      description: 'How many have failed; 0: it waits for an earlier event of the same action.',
    }),
    state: t.field({
      type: WebhookStateEnum,
      description: 'Whether it is tried on.',
      resolve: ({ state }) => state,
    }),
    error: t.exposeString('error', { nullable: true, description: 'Why the last attempt failed.' }),
    nextAttemptAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it is tried next; null when it is FAILED.',
      resolve: ({ nextAttemptAt }) => nextAttemptAt,
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
      'Admin: webhook deliveries that were given up or are being retried, the newest event first. What was taken at the ' +
      'first attempt is not among them.',
    args: {
      state: t.arg({ type: WebhookStateEnum, description: 'Only those in this state; absent: all.' }),
      ...pageArgs(),
    },
    extensions: PAGE_COST,
    resolve: async (_root, args, context) =>
      toConnection(await context.services.listWebhookDeliveries(context.identity(), args), args),
  }),
);

builder.mutationField('retryWebhook', (t) =>
  t.field({
    type: WebhookDelivery,
    description:
      'Admin: tries a delivery again at once, and for as long as a new one. It may arrive after later events of its action.',
    args: { id: t.arg.id({ required: true, description: 'Of the delivery.' }) },
    resolve: (_root, { id }, context) =>
      context.mutate(({ identity }) => context.services.retryWebhook(identity, id)),
  }),
);
