import {
  commitMutation,
  ConnectionHandler,
  createOperationDescriptor,
  Environment,
  fetchQuery,
  getRequest,
  graphql,
  Network,
  Observable,
  RecordSource,
  requestSubscription,
  ROOT_TYPE,
  Store,
  type Disposable,
  type GraphQLResponse,
  type MutationConfig,
  type MutationParameters,
  type RecordProxy,
  type RecordSourceProxy,
} from 'relay-runtime';
import type { relayActionQuery } from './__generated__/relayActionQuery.graphql.ts';
import type { relayEventsSubscription } from './__generated__/relayEventsSubscription.graphql.ts';
import type { relayFeedQuery } from './__generated__/relayFeedQuery.graphql.ts';
import type { relayLikeMutation } from './__generated__/relayLikeMutation.graphql.ts';
import type { relayMarkSeenMutation } from './__generated__/relayMarkSeenMutation.graphql.ts';
import type { relayNotificationEventsSubscription } from './__generated__/relayNotificationEventsSubscription.graphql.ts';
import type { relayNotificationsQuery } from './__generated__/relayNotificationsQuery.graphql.ts';
import type { relayUnlikeMutation } from './__generated__/relayUnlikeMutation.graphql.ts';
import { orderOf } from './feed-list.ts';
import type { FeedSocket } from './feed-socket.ts';

/** The fields of an item that the screen shows, for `useFragment` and for the functions below. */
export const ITEM = graphql`
  fragment relay_item on NewsfeedItem {
    id
    relevancy
    isUnread
    action {
      id
      descriptor {
        type
        summary
      }
      engagement {
        likes
        comments
      }
      viewer {
        hasLiked
      }
    }
  }
`;

export const FEED = graphql`
  query relayFeedQuery($first: Int, $after: String) {
    feed(first: $first, after: $after) @connection(key: "Feed_feed") {
      edges {
        node {
          ...relay_item @relay(mask: false)
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
      liveCursor
    }
  }
`;

const EVENTS = graphql`
  subscription relayEventsSubscription($after: String) {
    feedEvents(after: $after) {
      __typename
      cursor
      ... on FeedItemAdded {
        item {
          ...relay_item @relay(mask: false)
        }
      }
      ... on FeedItemUpdated {
        item {
          ...relay_item @relay(mask: false)
        }
      }
      ... on FeedItemRemoved {
        itemId
      }
      ... on FeedResync {
        reason
      }
    }
  }
`;

const LIKE = graphql`
  mutation relayLikeMutation($actionId: ID!) @raw_response_type {
    addInteraction(input: { actionId: $actionId, kind: LIKE }) {
      action {
        id
        engagement {
          likes
        }
        viewer {
          hasLiked
        }
      }
    }
  }
`;

const UNLIKE = graphql`
  mutation relayUnlikeMutation($actionId: ID!) @raw_response_type {
    removeInteraction(input: { own: { actionId: $actionId, kind: LIKE } }) {
      action {
        id
        engagement {
          likes
        }
        viewer {
          hasLiked
        }
      }
    }
  }
`;

const ACTION = graphql`
  query relayActionQuery($id: ID!) {
    action(id: $id) {
      id
      engagement {
        likes
      }
      viewer {
        hasLiked
      }
    }
  }
`;

const NOTIFICATIONS = graphql`
  query relayNotificationsQuery($first: Int) {
    notifications(first: $first) @connection(key: "Bell_notifications") {
      edges {
        node {
          ...relay_notification @relay(mask: false)
        }
      }
      unseen {
        count
        isExact
      }
      liveCursor
    }
  }
`;

/** The fields of a notification that the bell shows. */
export const NOTIFICATION = graphql`
  fragment relay_notification on Notification {
    id
    kind
    at
    isSeen
    isRead
    summary
    action {
      id
    }
  }
`;

const NOTIFICATION_EVENTS = graphql`
  subscription relayNotificationEventsSubscription($after: String) {
    notificationEvents(after: $after) {
      __typename
      ... on NotificationsReady {
        cursor
      }
      ... on NotificationAdded {
        cursor
        notification {
          ...relay_notification @relay(mask: false)
        }
      }
      ... on NotificationUpdated {
        cursor
        notification {
          ...relay_notification @relay(mask: false)
        }
      }
      ... on NotificationRemoved {
        cursor
        notificationId
      }
      ... on NotificationCountsChanged {
        cursor
        unseen {
          count
          isExact
        }
      }
      ... on NotificationsResync {
        cursor
        reason
      }
    }
  }
`;

const MARK_SEEN = graphql`
  mutation relayMarkSeenMutation($upTo: DateTime!) {
    markNotificationsSeen(upTo: $upTo) {
      memberId
    }
  }
`;

type FeedVariables = relayFeedQuery['variables'];
type Likes = NonNullable<relayLikeMutation['response']['addInteraction']>['action'];

export function createEnvironment(
  url: string,
  getToken: () => Promise<string>,
  socket: FeedSocket,
): Environment {
  return new Environment({
    store: new Store(new RecordSource()),
    // The page of an action shows at once what a list has loaded of it.
    missingFieldHandlers: [
      {
        kind: 'linked',
        handle: ({ name }, parent, args: { readonly id?: string }) =>
          name === 'action' && parent?.getType() === ROOT_TYPE ? args.id : undefined,
      },
    ],
    network: Network.create(
      async ({ text }, variables) => {
        const response = await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${await getToken()}` },
          body: JSON.stringify({ query: text, variables }),
        });
        const answer = (await response.json()) as { errors?: { message: string }[] };
        // Relay takes a response with data for a success even if it contains errors.
        if (answer.errors !== undefined)
          throw new Error(answer.errors.map(({ message }) => message).join('\n'));
        return answer as unknown as GraphQLResponse;
      },
      ({ text }, variables) =>
        Observable.create((sink) => socket.subscribe({ query: text ?? '', variables }, sink as never)),
    ),
  });
}

/** Reads the first page, which replaces everything that was loaded. */
export function readFirstPage(environment: Environment, socket: FeedSocket, variables: FeedVariables) {
  return socket.during(() => fetchQuery<relayFeedQuery>(environment, FEED, variables).toPromise());
}

/** Reads one action with its own query; every list then shows its changes. */
export async function readAction(environment: Environment, id: string): Promise<void> {
  await fetchQuery<relayActionQuery>(environment, ACTION, { id }).toPromise();
}

/** Protects the list from garbage collection; `usePaginationFragment` does so itself. */
export function retainFeed(environment: Environment, variables: FeedVariables): Disposable {
  return environment.retain(createOperationDescriptor(getRequest(FEED), variables));
}

export function readFeed(environment: Environment, variables: FeedVariables) {
  const operation = createOperationDescriptor(getRequest(FEED), variables);
  return environment.lookup(operation.fragment).data as relayFeedQuery['response'] | undefined;
}

export async function loadMore(environment: Environment, socket: FeedSocket, variables: FeedVariables) {
  const pageInfo = readFeed(environment, variables)?.feed.pageInfo;
  if (pageInfo?.hasNextPage !== true) return;
  const next = { ...variables, after: pageInfo.endCursor };
  await socket.during(() => fetchQuery<relayFeedQuery>(environment, FEED, next).toPromise());
}

/** Keeps the list up to date, starting from the first page. Dispose to stop. */
export function watchFeed(
  environment: Environment,
  socket: FeedSocket,
  variables: FeedVariables,
): Disposable {
  const after = readFeed(environment, variables)?.feed.liveCursor;
  return requestSubscription<relayEventsSubscription>(environment, {
    subscription: EVENTS,
    variables: { after },
    updater(store, data) {
      const list = ConnectionHandler.getConnection(store.getRoot(), 'Feed_feed');
      const event = data?.feedEvents;
      if (!list || !event) return;
      if (event.item) {
        const item = store.getRootField('feedEvents').getLinkedRecord('item');
        place(store, list, item, orderOfRecord, 'FeedEdge');
      }
      if (event.itemId !== undefined) ConnectionHandler.deleteNode(list, event.itemId);
    },
    onNext(data) {
      if (data?.feedEvents.__typename === 'FeedResync')
        void socket.insist(() => readFirstPage(environment, socket, variables));
    },
  });
}

/** Puts an item in its place, whether or not the list had it before. @param orderOf a sort key, greatest on top */
function place(
  store: RecordSourceProxy,
  list: RecordProxy,
  item: RecordProxy,
  orderOf: (item: RecordProxy) => string,
  edgeType: string,
): void {
  ConnectionHandler.deleteNode(list, item.getDataID());
  const edges = list.getLinkedRecords('edges');
  const found = edges.findIndex((edge) => orderOf(edge.getLinkedRecord('node')) < orderOf(item));
  // Below everything that is loaded: the next page will bring it.
  if (found < 0 && list.getLinkedRecord('pageInfo').getValue('hasNextPage') === true) return;
  const edge = ConnectionHandler.createEdge(store, list, item, edgeType);
  list.setLinkedRecords(edges.toSpliced(found < 0 ? edges.length : found, 0, edge), 'edges');
}

function orderOfRecord(item: RecordProxy): string {
  const id = item.getLinkedRecord('action').getDataID();
  return orderOf({ relevancy: String(item.getValue('relevancy')), action: { id } });
}

const BELL = createOperationDescriptor(getRequest(NOTIFICATIONS), { first: 20 });

/** Reads the notifications, or reads them again. */
export function readNotifications(environment: Environment, socket: FeedSocket) {
  return socket.during(() =>
    fetchQuery<relayNotificationsQuery>(environment, NOTIFICATIONS, { first: 20 }).toPromise(),
  );
}

/** What the bell shows; `usePreloadedQuery` gives it. */
export function notificationsIn(environment: Environment) {
  const data = environment.lookup(BELL.fragment).data as relayNotificationsQuery['response'] | undefined;
  return data?.notifications;
}

/** Keeps the notifications up to date, over the socket of the feed. Dispose to stop. */
export function watchNotifications(environment: Environment, socket: FeedSocket): Disposable {
  const kept = environment.retain(BELL);
  const live = requestSubscription<relayNotificationEventsSubscription>(environment, {
    subscription: NOTIFICATION_EVENTS,
    variables: { after: notificationsIn(environment)?.liveCursor },
    updater(store, data) {
      const list = ConnectionHandler.getConnection(store.getRoot(), 'Bell_notifications');
      const event = data?.notificationEvents;
      if (!list || !event) return;
      const sent = store.getRootField('notificationEvents');
      const { __typename: name } = event;
      if (name === 'NotificationAdded' || name === 'NotificationUpdated') {
        const notification = store.get(event.notification.id);
        if (notification)
          place(store, list, notification, (one) => String(one.getValue('at')), 'NotificationEdge');
      }
      if (name === 'NotificationRemoved') ConnectionHandler.deleteNode(list, event.notificationId);
      if (name === 'NotificationCountsChanged')
        list.setLinkedRecord(sent.getLinkedRecord('unseen'), 'unseen');
    },
    onNext(data) {
      if (data?.notificationEvents.__typename === 'NotificationsResync')
        void socket.insist(() => readNotifications(environment, socket));
    },
  });
  return {
    dispose: () => {
      live.dispose();
      kept.dispose();
    },
  };
}

/** Call it when the list is opened. */
export async function markSeen(environment: Environment, socket: FeedSocket): Promise<void> {
  const newest = notificationsIn(environment)?.edges[0]?.node;
  if (newest !== undefined)
    await commit<relayMarkSeenMutation>(environment, socket, {
      mutation: MARK_SEEN,
      variables: { upTo: newest.at },
    });
}

/** Shown at once; Relay undoes it if the mutation fails. */
export function like(environment: Environment, socket: FeedSocket, action: Likes): Promise<void> {
  return commit<relayLikeMutation>(environment, socket, {
    mutation: LIKE,
    variables: { actionId: action.id },
    optimisticResponse: { addInteraction: { action: liked(action, true) } },
  });
}

export function unlike(environment: Environment, socket: FeedSocket, action: Likes): Promise<void> {
  return commit<relayUnlikeMutation>(environment, socket, {
    mutation: UNLIKE,
    variables: { actionId: action.id },
    optimisticResponse: { removeInteraction: { action: liked(action, false) } },
  });
}

/** Resolves when the server has responded. */
function commit<M extends MutationParameters>(
  environment: Environment,
  socket: FeedSocket,
  config: MutationConfig<M>,
): Promise<void> {
  return socket.during(
    () =>
      new Promise((resolve, reject) => {
        commitMutation<M>(environment, { ...config, onCompleted: () => resolve(), onError: reject });
      }),
  );
}

function liked({ id, engagement, viewer }: Likes, hasLiked: boolean): Likes {
  const likes = engagement.likes + Number(hasLiked) - Number(viewer.hasLiked);
  return { id, engagement: { likes }, viewer: { hasLiked } };
}
