/**
 * @generated SignedSource<<f15278b6009c70a67c6bce496c6bd099>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
export type NotificationKind = "ASSIGNED" | "COMMENT" | "FOLLOW" | "LIKE" | "MENTION" | "OWN" | "REACTION" | "REPLY" | "RESHARE" | "%future added value";
export type relayNotificationEventsSubscription$variables = {
  after?: string | null | undefined;
};
export type relayNotificationEventsSubscription$data = {
  readonly notificationEvents: {
    readonly __typename: "NotificationAdded";
    readonly cursor: string;
    readonly notification: {
      readonly action: {
        readonly id: string;
      } | null | undefined;
      readonly at: string;
      readonly id: string;
      readonly isRead: boolean;
      readonly isSeen: boolean;
      readonly kind: NotificationKind;
      readonly summary: string;
    };
  } | {
    readonly __typename: "NotificationCountsChanged";
    readonly cursor: string;
    readonly unseen: {
      readonly count: number;
      readonly isExact: boolean;
    };
  } | {
    readonly __typename: "NotificationRemoved";
    readonly cursor: string;
    readonly notificationId: string;
  } | {
    readonly __typename: "NotificationUpdated";
    readonly cursor: string;
    readonly notification: {
      readonly action: {
        readonly id: string;
      } | null | undefined;
      readonly at: string;
      readonly id: string;
      readonly isRead: boolean;
      readonly isSeen: boolean;
      readonly kind: NotificationKind;
      readonly summary: string;
    };
  } | {
    readonly __typename: "NotificationsReady";
    readonly cursor: string;
  } | {
    readonly __typename: "NotificationsResync";
    readonly cursor: string;
    readonly reason: string;
  } | {
    // This will never be '%other', but we need some
    // value in case none of the concrete values match.
    readonly __typename: "%other";
  };
};
export type relayNotificationEventsSubscription = {
  response: relayNotificationEventsSubscription$data;
  variables: relayNotificationEventsSubscription$variables;
};

const node: ConcreteRequest = (function(){
var v0 = [
  {
    "defaultValue": null,
    "kind": "LocalArgument",
    "name": "after"
  }
],
v1 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "cursor",
  "storageKey": null
},
v2 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "id",
  "storageKey": null
},
v3 = [
  (v1/*:: as any*/),
  {
    "alias": null,
    "args": null,
    "concreteType": "Notification",
    "kind": "LinkedField",
    "name": "notification",
    "plural": false,
    "selections": [
      (v2/*:: as any*/),
      {
        "alias": null,
        "args": null,
        "kind": "ScalarField",
        "name": "kind",
        "storageKey": null
      },
      {
        "alias": null,
        "args": null,
        "kind": "ScalarField",
        "name": "at",
        "storageKey": null
      },
      {
        "alias": null,
        "args": null,
        "kind": "ScalarField",
        "name": "isSeen",
        "storageKey": null
      },
      {
        "alias": null,
        "args": null,
        "kind": "ScalarField",
        "name": "isRead",
        "storageKey": null
      },
      {
        "alias": null,
        "args": null,
        "kind": "ScalarField",
        "name": "summary",
        "storageKey": null
      },
      {
        "alias": null,
        "args": null,
        "concreteType": "Action",
        "kind": "LinkedField",
        "name": "action",
        "plural": false,
        "selections": [
          (v2/*:: as any*/)
        ],
        "storageKey": null
      }
    ],
    "storageKey": null
  }
],
v4 = [
  {
    "alias": null,
    "args": [
      {
        "kind": "Variable",
        "name": "after",
        "variableName": "after"
      }
    ],
    "concreteType": null,
    "kind": "LinkedField",
    "name": "notificationEvents",
    "plural": false,
    "selections": [
      {
        "alias": null,
        "args": null,
        "kind": "ScalarField",
        "name": "__typename",
        "storageKey": null
      },
      {
        "kind": "InlineFragment",
        "selections": [
          (v1/*:: as any*/)
        ],
        "type": "NotificationsReady",
        "abstractKey": null
      },
      {
        "kind": "InlineFragment",
        "selections": (v3/*:: as any*/),
        "type": "NotificationAdded",
        "abstractKey": null
      },
      {
        "kind": "InlineFragment",
        "selections": (v3/*:: as any*/),
        "type": "NotificationUpdated",
        "abstractKey": null
      },
      {
        "kind": "InlineFragment",
        "selections": [
          (v1/*:: as any*/),
          {
            "alias": null,
            "args": null,
            "kind": "ScalarField",
            "name": "notificationId",
            "storageKey": null
          }
        ],
        "type": "NotificationRemoved",
        "abstractKey": null
      },
      {
        "kind": "InlineFragment",
        "selections": [
          (v1/*:: as any*/),
          {
            "alias": null,
            "args": null,
            "concreteType": "UnreadCount",
            "kind": "LinkedField",
            "name": "unseen",
            "plural": false,
            "selections": [
              {
                "alias": null,
                "args": null,
                "kind": "ScalarField",
                "name": "count",
                "storageKey": null
              },
              {
                "alias": null,
                "args": null,
                "kind": "ScalarField",
                "name": "isExact",
                "storageKey": null
              }
            ],
            "storageKey": null
          }
        ],
        "type": "NotificationCountsChanged",
        "abstractKey": null
      },
      {
        "kind": "InlineFragment",
        "selections": [
          (v1/*:: as any*/),
          {
            "alias": null,
            "args": null,
            "kind": "ScalarField",
            "name": "reason",
            "storageKey": null
          }
        ],
        "type": "NotificationsResync",
        "abstractKey": null
      }
    ],
    "storageKey": null
  }
];
return {
  "fragment": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Fragment",
    "metadata": null,
    "name": "relayNotificationEventsSubscription",
    "selections": (v4/*:: as any*/),
    "type": "Subscription",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "relayNotificationEventsSubscription",
    "selections": (v4/*:: as any*/)
  },
  "params": {
    "cacheID": "19f3670bc4c4b1de949dcf715a1ee896",
    "id": null,
    "metadata": {},
    "name": "relayNotificationEventsSubscription",
    "operationKind": "subscription",
    "text": "subscription relayNotificationEventsSubscription(\n  $after: String\n) {\n  notificationEvents(after: $after) {\n    __typename\n    ... on NotificationsReady {\n      cursor\n    }\n    ... on NotificationAdded {\n      cursor\n      notification {\n        id\n        kind\n        at\n        isSeen\n        isRead\n        summary\n        action {\n          id\n        }\n      }\n    }\n    ... on NotificationUpdated {\n      cursor\n      notification {\n        id\n        kind\n        at\n        isSeen\n        isRead\n        summary\n        action {\n          id\n        }\n      }\n    }\n    ... on NotificationRemoved {\n      cursor\n      notificationId\n    }\n    ... on NotificationCountsChanged {\n      cursor\n      unseen {\n        count\n        isExact\n      }\n    }\n    ... on NotificationsResync {\n      cursor\n      reason\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "ea914556f4a45a1458b88437aa91019b";

export default node;
