/**
 * @generated SignedSource<<88123a40f0037aa98ce95ebb79b86ac4>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
export type relayEventsSubscription$variables = {
  after?: string | null | undefined;
};
export type relayEventsSubscription$data = {
  readonly feedEvents: {
    readonly __typename: string;
    readonly cursor: string;
    readonly item?: {
      readonly action: {
        readonly descriptor: {
          readonly summary: string;
          readonly type: string;
        };
        readonly engagement: {
          readonly comments: number;
          readonly likes: number;
        };
        readonly id: string;
        readonly viewer: {
          readonly hasLiked: boolean;
        };
      };
      readonly id: string;
      readonly isUnread: boolean;
      readonly relevancy: string;
    };
    readonly itemId?: string;
    readonly reason?: string;
  };
};
export type relayEventsSubscription = {
  response: relayEventsSubscription$data;
  variables: relayEventsSubscription$variables;
};

const node: ConcreteRequest = (function(){
var v0 = [
  {
    "defaultValue": null,
    "kind": "LocalArgument",
    "name": "after"
  }
],
v1 = [
  {
    "kind": "Variable",
    "name": "after",
    "variableName": "after"
  }
],
v2 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "__typename",
  "storageKey": null
},
v3 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "cursor",
  "storageKey": null
},
v4 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "id",
  "storageKey": null
},
v5 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "relevancy",
  "storageKey": null
},
v6 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "isUnread",
  "storageKey": null
},
v7 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "type",
  "storageKey": null
},
v8 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "summary",
  "storageKey": null
},
v9 = {
  "alias": null,
  "args": null,
  "concreteType": "Engagement",
  "kind": "LinkedField",
  "name": "engagement",
  "plural": false,
  "selections": [
    {
      "alias": null,
      "args": null,
      "kind": "ScalarField",
      "name": "likes",
      "storageKey": null
    },
    {
      "alias": null,
      "args": null,
      "kind": "ScalarField",
      "name": "comments",
      "storageKey": null
    }
  ],
  "storageKey": null
},
v10 = {
  "alias": null,
  "args": null,
  "concreteType": "ActionViewer",
  "kind": "LinkedField",
  "name": "viewer",
  "plural": false,
  "selections": [
    {
      "alias": null,
      "args": null,
      "kind": "ScalarField",
      "name": "hasLiked",
      "storageKey": null
    }
  ],
  "storageKey": null
},
v11 = [
  {
    "alias": null,
    "args": null,
    "concreteType": "NewsfeedItem",
    "kind": "LinkedField",
    "name": "item",
    "plural": false,
    "selections": [
      (v4/*:: as any*/),
      (v5/*:: as any*/),
      (v6/*:: as any*/),
      {
        "alias": null,
        "args": null,
        "concreteType": "Action",
        "kind": "LinkedField",
        "name": "action",
        "plural": false,
        "selections": [
          (v4/*:: as any*/),
          {
            "alias": null,
            "args": null,
            "concreteType": null,
            "kind": "LinkedField",
            "name": "descriptor",
            "plural": false,
            "selections": [
              (v7/*:: as any*/),
              (v8/*:: as any*/)
            ],
            "storageKey": null
          },
          (v9/*:: as any*/),
          (v10/*:: as any*/)
        ],
        "storageKey": null
      }
    ],
    "storageKey": null
  }
],
v12 = {
  "kind": "InlineFragment",
  "selections": [
    {
      "alias": null,
      "args": null,
      "kind": "ScalarField",
      "name": "itemId",
      "storageKey": null
    }
  ],
  "type": "FeedItemRemoved",
  "abstractKey": null
},
v13 = {
  "kind": "InlineFragment",
  "selections": [
    {
      "alias": null,
      "args": null,
      "kind": "ScalarField",
      "name": "reason",
      "storageKey": null
    }
  ],
  "type": "FeedResync",
  "abstractKey": null
},
v14 = [
  {
    "alias": null,
    "args": null,
    "concreteType": "NewsfeedItem",
    "kind": "LinkedField",
    "name": "item",
    "plural": false,
    "selections": [
      (v4/*:: as any*/),
      (v5/*:: as any*/),
      (v6/*:: as any*/),
      {
        "alias": null,
        "args": null,
        "concreteType": "Action",
        "kind": "LinkedField",
        "name": "action",
        "plural": false,
        "selections": [
          (v4/*:: as any*/),
          {
            "alias": null,
            "args": null,
            "concreteType": null,
            "kind": "LinkedField",
            "name": "descriptor",
            "plural": false,
            "selections": [
              (v2/*:: as any*/),
              (v7/*:: as any*/),
              (v8/*:: as any*/)
            ],
            "storageKey": null
          },
          (v9/*:: as any*/),
          (v10/*:: as any*/)
        ],
        "storageKey": null
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
    "name": "relayEventsSubscription",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": null,
        "kind": "LinkedField",
        "name": "feedEvents",
        "plural": false,
        "selections": [
          (v2/*:: as any*/),
          (v3/*:: as any*/),
          {
            "kind": "InlineFragment",
            "selections": (v11/*:: as any*/),
            "type": "FeedItemAdded",
            "abstractKey": null
          },
          {
            "kind": "InlineFragment",
            "selections": (v11/*:: as any*/),
            "type": "FeedItemUpdated",
            "abstractKey": null
          },
          (v12/*:: as any*/),
          (v13/*:: as any*/)
        ],
        "storageKey": null
      }
    ],
    "type": "Subscription",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "relayEventsSubscription",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": null,
        "kind": "LinkedField",
        "name": "feedEvents",
        "plural": false,
        "selections": [
          (v2/*:: as any*/),
          (v3/*:: as any*/),
          {
            "kind": "InlineFragment",
            "selections": (v14/*:: as any*/),
            "type": "FeedItemAdded",
            "abstractKey": null
          },
          {
            "kind": "InlineFragment",
            "selections": (v14/*:: as any*/),
            "type": "FeedItemUpdated",
            "abstractKey": null
          },
          (v12/*:: as any*/),
          (v13/*:: as any*/)
        ],
        "storageKey": null
      }
    ]
  },
  "params": {
    "cacheID": "2432fb312841c3da034a93b4c47fe3aa",
    "id": null,
    "metadata": {},
    "name": "relayEventsSubscription",
    "operationKind": "subscription",
    "text": "subscription relayEventsSubscription(\n  $after: String\n) {\n  feedEvents(after: $after) {\n    __typename\n    cursor\n    ... on FeedItemAdded {\n      item {\n        id\n        relevancy\n        isUnread\n        action {\n          id\n          descriptor {\n            __typename\n            type\n            summary\n          }\n          engagement {\n            likes\n            comments\n          }\n          viewer {\n            hasLiked\n          }\n        }\n      }\n    }\n    ... on FeedItemUpdated {\n      item {\n        id\n        relevancy\n        isUnread\n        action {\n          id\n          descriptor {\n            __typename\n            type\n            summary\n          }\n          engagement {\n            likes\n            comments\n          }\n          viewer {\n            hasLiked\n          }\n        }\n      }\n    }\n    ... on FeedItemRemoved {\n      itemId\n    }\n    ... on FeedResync {\n      reason\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "5b1933f63e7b9ec075ac09340d8c93e5";

export default node;
