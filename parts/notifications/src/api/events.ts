import { builder } from '../../../../src/graphql/builder.ts';
import { encodeNotificationId } from '../../../../src/domain/node-ids.ts';
import { asksForType } from '../../../../src/graphql/live-selection.ts';
import { UnreadCount } from '../../../../src/features/feed/api/unread-count.ts';
import { watchNotifications, type NotificationEvent as EventSource } from '../watch-notifications.ts';
import { Notification, NotificationFilter } from './notifications.ts';

type Of<Kind extends EventSource['kind']> = Extract<EventSource, { kind: Kind }>;
type ShownEvent = Extract<EventSource, { notification: unknown }>;

const CURSOR = 'Pass it as `after` to continue after this event.';

const NotificationsReady = builder.objectRef<Of<'ready'>>('NotificationsReady').implement({
  description: 'The subscription is active; no later event is missed.',
  fields: (t) => ({ cursor: t.exposeString('cursor', { description: CURSOR }) }),
});

const shown = (name: string, description: string) =>
  builder.objectRef<ShownEvent>(name).implement({
    description,
    fields: (t) => ({
      cursor: t.exposeString('cursor', { description: CURSOR }),
      notification: t.field({
        type: Notification,
        description: 'The notification as it is now.',
        resolve: ({ notification }) => notification,
      }),
    }),
  });
const NotificationAdded = shown(
  'NotificationAdded',
  'A notification with one event: a new one, or one that has lost its others.',
);
const NotificationUpdated = shown(
  'NotificationUpdated',
  'A notification with several events, one more or fewer than before. Clients that do not know it add it.',
);

const NotificationRemoved = builder.objectRef<Of<'removed'>>('NotificationRemoved').implement({
  description:
    'The list does not contain the notification any more. Also sent for some that it has never contained.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', { description: CURSOR }),
    notificationId: t.id({
      description: 'Global id of the notification.',
      resolve: ({ userId, key }) => encodeNotificationId(userId, key),
    }),
  }),
});

const NotificationCountsChanged = builder.objectRef<Of<'counts'>>('NotificationCountsChanged').implement({
  description:
    'The counts of the whole list changed, regardless of the filter. Only sent to subscriptions that select this type with a fragment, because counting has a cost.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', { description: CURSOR }),
    unseen: t.field({
      type: UnreadCount,
      description: 'Notifications with an event that the reader has not seen.',
      resolve: ({ unseen }) => unseen,
    }),
    unread: t.field({
      type: UnreadCount,
      description: 'Notifications that the reader has not read.',
      resolve: ({ unread }) => unread,
    }),
  }),
});

const NotificationsResync = builder.objectRef<Of<'resync'>>('NotificationsResync').implement({
  description:
    'The list changed in a way that is not sent one by one. Query the notifications again, then continue from this cursor.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', { description: CURSOR }),
    reason: t.exposeString('reason', {
      description:
        'Events may be missing: invalid-cursor, log-lost, log-interrupted, window-passed, buffer-overflow. The list changed: marks (seen, read or preferences), mutes, membership, followers.',
    }),
  }),
});

const NotificationEvent = builder.unionType('NotificationEvent', {
  description: "A change of the viewer's notifications.",
  types: [
    NotificationsReady,
    NotificationAdded,
    NotificationUpdated,
    NotificationRemoved,
    NotificationCountsChanged,
    NotificationsResync,
  ],
  resolveType: ({ kind }: EventSource) => TYPE_NAMES[kind],
});

const TYPE_NAMES = {
  ready: 'NotificationsReady',
  added: 'NotificationAdded',
  updated: 'NotificationUpdated',
  removed: 'NotificationRemoved',
  counts: 'NotificationCountsChanged',
  resync: 'NotificationsResync',
} as const satisfies Record<EventSource['kind'], string>;

builder.subscriptionField('notificationEvents', (t) =>
  t.field({
    type: NotificationEvent,
    description:
      "Changes of the viewer's notifications. Starts with NotificationsReady. With `after`, all events since that cursor come first, in order, or NotificationsResync if that is not possible. Event streams use `Last-Event-ID` as `after`.",
    args: {
      after: t.arg.string({ description: 'The cursor of an earlier event. Default: only new events.' }),
      filter: t.arg({ type: NotificationFilter, description: 'Only notifications that match.' }),
    },
    subscribe: (_root, args, context, info) =>
      watchNotifications(context.core, context.identity(), {
        ...args,
        after: context.lastEventId ?? args.after,
        withCounts: asksForType(info, TYPE_NAMES.counts),
        signal: context.signal,
      }),
    resolve: (event) => event,
  }),
);
