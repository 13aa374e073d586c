import { gql, type Client, type TypedDocumentNode } from '@urql/core';
import type { Cache } from '@urql/exchange-graphcache';
import type { FeedSocket } from './feed-socket.ts';
import * as shared from './notifications.ts';
import { afterEvent, BELL, type NotificationEvent, type NotificationPage } from './notifications.ts';
import { orThrow } from './urql-pages.ts';

export const NOTIFICATIONS: TypedDocumentNode<{ notifications: NotificationPage }, typeof BELL> = gql(
  shared.NOTIFICATIONS,
);
const EVENTS: TypedDocumentNode<{ notificationEvents: NotificationEvent }, { after: string | null }> = gql(
  shared.NOTIFICATION_EVENTS,
);
const MARK_SEEN: TypedDocumentNode<object, { upTo: string }> = gql(shared.MARK_SEEN);

/** For `updates.Subscription` of the cache. */
export function applyNotificationEvent(data: object, _args: object, cache: Cache): void {
  const { notificationEvents: event } = data as { notificationEvents: NotificationEvent };
  cache.updateQuery({ query: NOTIFICATIONS, variables: BELL }, (list) =>
    list === null ? null : { notifications: afterEvent(list.notifications, event) },
  );
}

/** Reads the list, or reads it again. A query with `NOTIFICATIONS` and `BELL` shows it. */
export function readNotifications(client: Client, socket: FeedSocket) {
  return socket.during(async () => {
    await Promise.resolve();
    return client.query(NOTIFICATIONS, BELL, { requestPolicy: 'network-only' }).toPromise();
  });
}

/** Keeps the list up to date, over the socket of the feed. Unsubscribe to stop. */
export function watchNotifications(client: Client, socket: FeedSocket) {
  const after = client.readQuery(NOTIFICATIONS, BELL)?.data?.notifications.liveCursor ?? null;
  return client.subscription(EVENTS, { after }).subscribe(({ data }) => {
    if (data?.notificationEvents.__typename === 'NotificationsResync')
      void socket.insist(() => readNotifications(client, socket).then(orThrow));
  });
}

/** Call it when the list is opened. */
export async function markSeen(client: Client): Promise<void> {
  const newest = client.readQuery(NOTIFICATIONS, BELL)?.data?.notifications.edges[0]?.node;
  if (newest !== undefined) await client.mutation(MARK_SEEN, { upTo: newest.at }).toPromise();
}
