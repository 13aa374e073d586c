import type { FeedEvent as EventSource } from '../../services/shapes.ts';
import { builder } from '../builder.ts';
import { encodeActionId, encodeNewsfeedItemId } from '../global-id.ts';
import { asksForType } from '../live-selection.ts';
import { HOLDS_SHARED, PLAIN } from '../shared-field.ts';
import { FeedFilter, NewsfeedItem } from './feed.ts';
import { UnreadCount } from './unread-count.ts';

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
      description: 'Give it as `after` to go on behind this event.',
      extensions: PLAIN,
    }),
  }),
});

builder.objectRef<EventSource>(TYPE_NAMES.ready).implement({
  description: 'The subscription stands; nothing from here on is missed.',
  interfaces: [FeedEvent],
});

builder.objectRef<ItemEvent>(TYPE_NAMES.added).implement({
  description: 'Something new in the feed.',
  interfaces: [FeedEvent],
  fields: (t) => ({
    item: t.field({
      type: NewsfeedItem,
      description: 'The new item.',
      extensions: HOLDS_SHARED,
      resolve: ({ item }) => item,
    }),
  }),
});

builder.objectRef<ItemEvent>(TYPE_NAMES.updated).implement({
  description: 'The item or its action changed: it has a new relevancy, or other reasons.',
  interfaces: [FeedEvent],
  fields: (t) => ({
    item: t.field({
      type: NewsfeedItem,
      description: 'The item as it is now.',
      extensions: HOLDS_SHARED,
      resolve: ({ item }) => item,
    }),
  }),
});

builder.objectRef<RemovedEvent>(TYPE_NAMES.removed).implement({
  description: 'The item left the list: hidden, deleted, or no longer for this reader.',
  interfaces: [FeedEvent],
  fields: (t) => ({
    itemId: t.id({
      description: 'Global id of the item that is gone.',
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
    'The number of unread entries of the whole feed has changed, whatever the filter. Changes in a short time are sent ' +
    'as one. Sent only to subscriptions that ask for this type by a fragment: counting costs.',
  interfaces: [FeedEvent],
  fields: (t) => ({
    unread: t.field({ type: UnreadCount, description: 'The number now.', resolve: ({ unread }) => unread }),
  }),
});

builder.objectRef<ResyncEvent>(TYPE_NAMES.resync).implement({
  description:
    'The list changed in a way that is not told item by item: query the feed again, then go on from this cursor.',
  interfaces: [FeedEvent],
  fields: (t) => ({
    reason: t.exposeString('reason', {
      description:
        'Events may be missing: invalid-cursor, log-lost, log-interrupted, window-passed, buffer-overflow. The reader ' +
        'changed the list: mutes, marks (with unreadOnly), membership.',
    }),
  }),
});

builder.subscriptionField('feedEvents', (t) =>
  t.field({
    type: FeedEvent,
    description:
      "Changes of the viewer's feed. Opens with FeedReady. With `after`, everything since that cursor comes first, once " +
      'and in order; where that cannot be promised, FeedResync. Event streams take `Last-Event-ID` for it.',
    extensions: HOLDS_SHARED,
    args: {
      after: t.arg.string({ description: 'The cursor of an earlier event; absent: from now on.' }),
      filter: t.arg({ type: FeedFilter, description: 'Only these.' }),
    },
    subscribe: (_root, args, context, info) =>
      context.services.watchFeed(context.identity(), {
        ...args,
        after: context.lastEventId ?? args.after,
        withUnread: asksForType(info, TYPE_NAMES.unread),
        signal: context.signal,
      }),
    resolve: (event) => event,
  }),
);
