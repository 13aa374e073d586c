import { gql, type ApolloClient, type TypedDocumentNode } from '@apollo/client';
import type { FeedSocket } from './feed-socket.ts';
import * as shared from './notifications.ts';
import { afterEvent, BELL, type NotificationEvent, type NotificationPage } from './notifications.ts';

export const NOTIFICATIONS: TypedDocumentNode<{ notifications: NotificationPage }, typeof BELL> = gql(
  shared.NOTIFICATIONS,
);
const EVENTS: TypedDocumentNode<{ notificationEvents: NotificationEvent }, { after: string | null }> = gql(
  shared.NOTIFICATION_EVENTS,
);
const MARK_SEEN: TypedDocumentNode<object, { upTo: string }> = gql(shared.MARK_SEEN);
const LIST = { query: NOTIFICATIONS, variables: BELL };

/** Reads the list, or reads it again. `useQuery(NOTIFICATIONS, { variables: BELL })` shows it. */
export function readNotifications(client: ApolloClient, socket: FeedSocket) {
  return socket.during(() => client.query({ ...LIST, fetchPolicy: 'network-only' }));
}

/** Keeps the list up to date, over the socket of the feed. Unsubscribe to stop. */
export function watchNotifications(client: ApolloClient, socket: FeedSocket) {
  const after = client.readQuery(LIST)?.notifications.liveCursor ?? null;
  return client.subscribe({ query: EVENTS, variables: { after } }).subscribe(({ data }) => {
    const event = data?.notificationEvents;
    if (event === undefined) return;
    if (event.__typename === 'NotificationsResync')
      void socket.insist(() => readNotifications(client, socket));
    else
      client.cache.updateQuery(LIST, (list) =>
        list === null ? undefined : { notifications: afterEvent(list.notifications, event) },
      );
  });
}

/** Call it when the list is opened. */
export async function markSeen(client: ApolloClient): Promise<void> {
  const newest = client.readQuery(LIST)?.notifications.edges[0]?.node;
  if (newest !== undefined) await client.mutate({ mutation: MARK_SEEN, variables: { upTo: newest.at } });
}
