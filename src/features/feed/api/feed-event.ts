import type { FeedEvent as EventSource } from '../../../core/shapes.ts';
import { builder } from '../../../graphql/builder.ts';
import { encodeActionId, encodeNewsfeedItemId } from '../../../graphql/global-id.ts';
import { asksForType } from '../../../graphql/live-selection.ts';
import { HOLDS_SHARED, PLAIN } from '../../../graphql/shared-field.ts';
import { FeedFilter, NewsfeedItem } from './feed.ts';
import { UnreadCount } from './unread-count.ts';
import { listArgs, listAsked } from './view-arg.ts';
import { watchFeed } from '../../../feed/watch/watch-feed.ts';

type ItemEvent = Extract<EventSource, { kind: 'added' | 'updated' }>;
type RemovedEvent = Extract<EventSource, { kind: 'removed' }>;
type ResyncEvent = Extract<EventSource, { kind: 'resync' }>;
type UnreadEvent = Extract<EventSource, { kind: 'unread' }>;

const TYPE_NAMES = {
  ready: 'FeedReady',
  added: 'FeedItemAdded',
  updated: 'FeedItemUpdated',
  removed: 'FeedItemRemoved',
  unread: 'UnreadCountChanged',
  resync: 'FeedResync',
} as const satisfies Record<EventSource['kind'], string>;

const FeedEvent = builder.interfaceRef<EventSource>('FeedEvent').implement({
  description: "A change of the viewer's feed.",
  resolveType: ({ kind }) => TYPE_NAMES[kind],
  fields: (t) => ({
    cursor: t.exposeString('cursor', {
      description: 'Pass it as `after` to continue after this event.',
      extensions: PLAIN,
    }),
  }),
});

builder.objectRef<EventSource>(TYPE_NAMES.ready).implement({
  description: 'The subscription is active; no later event is missed.',
  interfaces: [FeedEvent],
});

builder.objectRef<ItemEvent>(TYPE_NAMES.added).implement({
  description: 'A new item in the feed.',
  interfaces: [FeedEvent],
  fields: (t) => ({
    item: t.expose('item', { type: NewsfeedItem, description: 'The new item.', extensions: HOLDS_SHARED }),
  }),
});

builder.objectRef<ItemEvent>(TYPE_NAMES.updated).implement({
  description:
    'The item or its action changed: its relevancy, its reasons, its comments, or what the reader has marked.',
  interfaces: [FeedEvent],
  fields: (t) => ({
    item: t.expose('item', {
      type: NewsfeedItem,
      description: 'The current item.',
      extensions: HOLDS_SHARED,
    }),
  }),
});

builder.objectRef<RemovedEvent>(TYPE_NAMES.removed).implement({
  description: 'An item left the list: it was hidden or deleted, or is no longer addressed to this reader.',
  interfaces: [FeedEvent],
  fields: (t) => ({
    itemId: t.id({
      description: 'Global id of the removed item.',
      resolve: ({ userId, actionId }) => encodeNewsfeedItemId(userId, actionId),
    }),
    actionId: t.id({
      description: 'Global id of its action.',
      resolve: ({ actionId }) => encodeActionId(actionId),
    }),
  }),
});

builder.objectRef<UnreadEvent>(TYPE_NAMES.unread).implement({
  description:
    'The number of unread entries of the whole feed, or of the whole view, changed, regardless of the filter. Changes within a short time are sent as one. Only sent to subscriptions that select this type with a fragment, because counting has a cost.',
  interfaces: [FeedEvent],
  fields: (t) => ({
    unread: t.expose('unread', { type: UnreadCount, description: 'The current number.' }),
  }),
});

builder.objectRef<ResyncEvent>(TYPE_NAMES.resync).implement({
  description:
    'The list changed in a way that is not sent item by item. Query the feed again, then continue from this cursor.',
  interfaces: [FeedEvent],
  fields: (t) => ({
    reason: t.exposeString('reason', {
      description:
        "Events may be missing: invalid-cursor, log-lost, log-interrupted, window-passed, buffer-overflow. The reader's list changed: mutes, marks (everything up to a relevancy was marked as read), membership.",
    }),
  }),
});

builder.subscriptionField('feedEvents', (t) =>
  t.field({
    type: FeedEvent,
    description:
      "Changes of the viewer's feed. Starts with FeedReady. With `after`, all events since that cursor come first, once and in order, or FeedResync if that is not possible. Event streams use `Last-Event-ID` as `after`.",
    extensions: HOLDS_SHARED,
    args: {
      after: t.arg.string({ description: 'The cursor of an earlier event. Default: only new events.' }),
      ...listArgs(t.arg),
      filter: t.arg({ type: FeedFilter, description: 'Only entries that match.' }),
    },
    subscribe: (_root, args, context, info) =>
      watchFeed(context.core, context.identity(), {
        ...args,
        ...listAsked(args),
        after: context.lastEventId ?? args.after,
        withUnread: asksForType(info, TYPE_NAMES.unread),
        signal: context.signal,
      }),
    resolve: (event) => event,
  }),
);
