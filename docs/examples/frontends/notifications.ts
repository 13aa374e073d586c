/** What the bell shows of a notification. Pages and events select the same fields, so either can replace the other. */
const NOTIFICATION_FIELDS = /* GraphQL */ `
  fragment NotificationFields on Notification {
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

export const NOTIFICATIONS = /* GraphQL */ `
  query Notifications($first: Int) {
    notifications(first: $first) {
      edges {
        node {
          ...NotificationFields
        }
      }
      unseen {
        count
        isExact
      }
      liveCursor
    }
  }
  ${NOTIFICATION_FIELDS}
`;

export const NOTIFICATION_EVENTS = /* GraphQL */ `
  subscription NotificationEvents($after: String) {
    notificationEvents(after: $after) {
      __typename
      ... on NotificationsReady {
        cursor
      }
      ... on NotificationAdded {
        cursor
        notification {
          ...NotificationFields
        }
      }
      ... on NotificationUpdated {
        cursor
        notification {
          ...NotificationFields
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
  ${NOTIFICATION_FIELDS}
`;

/** Afterwards the server sends `NotificationsResync`: the list is read again, and nothing is new in it. */
export const MARK_SEEN = /* GraphQL */ `
  mutation MarkSeen($upTo: DateTime!) {
    markNotificationsSeen(upTo: $upTo) {
      memberId
    }
  }
`;

export interface Notification {
  readonly __typename: 'Notification';
  readonly id: string;
  readonly kind: string;
  readonly at: string;
  readonly isSeen: boolean;
  readonly isRead: boolean;
  readonly summary: string;
  readonly action: { readonly __typename: 'Action'; readonly id: string } | null;
}

interface Counted {
  readonly __typename: 'UnreadCount';
  readonly count: number;
  readonly isExact: boolean;
}

export interface NotificationPage {
  readonly __typename: 'NotificationConnection';
  readonly edges: readonly { readonly __typename: 'NotificationEdge'; readonly node: Notification }[];
  /** The number at the bell. */
  readonly unseen: Counted;
  readonly liveCursor: string;
}

export type NotificationEvent = { readonly cursor: string } & (
  | { readonly __typename: 'NotificationsReady' }
  | {
      readonly __typename: 'NotificationAdded' | 'NotificationUpdated';
      readonly notification: Notification;
    }
  | { readonly __typename: 'NotificationRemoved'; readonly notificationId: string }
  | { readonly __typename: 'NotificationCountsChanged'; readonly unseen: Counted }
  | { readonly __typename: 'NotificationsResync'; readonly reason: string }
);

/** How many the bell shows. */
export const BELL = { first: 20 };

/** The list after an event. Of `NotificationsResync` it knows nothing: then it is read again. */
export function afterEvent(page: NotificationPage, event: NotificationEvent): NotificationPage {
  if (event.__typename === 'NotificationCountsChanged') return { ...page, unseen: event.unseen };
  if (event.__typename === 'NotificationRemoved') return without(page, event.notificationId);
  if (!('notification' in event)) return page;
  const { notification } = event;
  const { edges } = without(page, notification.id);
  // The newest is first.
  const found = edges.findIndex(({ node }) => node.at < notification.at);
  const edge = { __typename: 'NotificationEdge', node: notification } as const;
  return {
    ...page,
    edges: edges.toSpliced(found < 0 ? edges.length : found, 0, edge).slice(0, BELL.first),
  };
}

function without(page: NotificationPage, id: string): NotificationPage {
  return { ...page, edges: page.edges.filter(({ node }) => node.id !== id) };
}
