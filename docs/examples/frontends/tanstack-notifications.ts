import type { QueryClient } from '@tanstack/query-core';
import type { FeedSocket } from './feed-socket.ts';
import * as shared from './notifications.ts';
import { afterEvent, BELL, type NotificationEvent, type NotificationPage } from './notifications.ts';
import type { Request } from './tanstack-query.ts';

const KEY = { queryKey: ['notifications'] };

/** For `useQuery`. Events keep the list fresh. */
export function notificationOptions(request: Request) {
  return {
    ...KEY,
    queryFn: async () =>
      (await request<{ notifications: NotificationPage }>(shared.NOTIFICATIONS, BELL)).notifications,
    staleTime: Infinity,
  };
}

/** Keeps the list up to date, over the socket of the feed. Call the returned function to stop. */
export function watchNotifications(
  client: QueryClient,
  socket: FeedSocket,
  onError: (error: unknown) => void,
): () => void {
  const listIn = () => client.getQueryData<NotificationPage>(KEY.queryKey);
  const apply = (event: NotificationEvent): void => {
    if (event.__typename === 'NotificationsResync')
      void socket.insist(() => client.refetchQueries(KEY, { throwOnError: true }));
    else client.setQueryData<NotificationPage>(KEY.queryKey, (list) => list && afterEvent(list, event));
  };
  return socket.subscribe<{ notificationEvents: NotificationEvent }>(
    { query: shared.NOTIFICATION_EVENTS, variables: { after: listIn()?.liveCursor } },
    { next: ({ data }) => data && apply(data.notificationEvents), error: onError, complete: () => undefined },
  );
}

/** Call it when the list is opened. */
export async function markSeen(client: QueryClient, request: Request): Promise<void> {
  const newest = client.getQueryData<NotificationPage>(KEY.queryKey)?.edges[0]?.node;
  if (newest !== undefined) await request(shared.MARK_SEEN, { upTo: newest.at });
}
