/**
 * @generated SignedSource<<ba367ce0535be2dea32aaab80d02a8d9>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
export type relayUnlikeMutation$variables = {
  actionId: string;
};
export type relayUnlikeMutation$data = {
  readonly removeInteraction: {
    readonly action: {
      readonly engagement: {
        readonly likes: number;
      };
      readonly id: string;
      readonly viewer: {
        readonly hasLiked: boolean;
      };
    };
  };
};
export type relayUnlikeMutation$rawResponse = {
  readonly removeInteraction: {
    readonly action: {
      readonly engagement: {
        readonly likes: number;
      };
      readonly id: string;
      readonly viewer: {
        readonly hasLiked: boolean;
      };
    };
  };
};
export type relayUnlikeMutation = {
  rawResponse: relayUnlikeMutation$rawResponse;
  response: relayUnlikeMutation$data;
  variables: relayUnlikeMutation$variables;
};

const node: ConcreteRequest = (function(){
var v0 = [
  {
    "defaultValue": null,
    "kind": "LocalArgument",
    "name": "actionId"
  }
],
v1 = [
  {
    "alias": null,
    "args": [
      {
        "fields": [
          {
            "fields": [
              {
                "kind": "Variable",
                "name": "actionId",
                "variableName": "actionId"
              },
              {
                "kind": "Literal",
                "name": "kind",
                "value": "LIKE"
              }
            ],
            "kind": "ObjectValue",
            "name": "own"
          }
        ],
        "kind": "ObjectValue",
        "name": "input"
      }
    ],
    "concreteType": "InteractionPayload",
    "kind": "LinkedField",
    "name": "removeInteraction",
    "plural": false,
    "selections": [
      {
        "alias": null,
        "args": null,
        "concreteType": "Action",
        "kind": "LinkedField",
        "name": "action",
        "plural": false,
        "selections": [
          {
            "alias": null,
            "args": null,
            "kind": "ScalarField",
            "name": "id",
            "storageKey": null
          },
          {
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
              }
            ],
            "storageKey": null
          },
          {
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
          }
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
    "name": "relayUnlikeMutation",
    "selections": (v1/*:: as any*/),
    "type": "Mutation",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "relayUnlikeMutation",
    "selections": (v1/*:: as any*/)
  },
  "params": {
    "cacheID": "6fec45d52450c055279aa1476e261c3d",
    "id": null,
    "metadata": {},
    "name": "relayUnlikeMutation",
    "operationKind": "mutation",
    "text": "mutation relayUnlikeMutation(\n  $actionId: ID!\n) {\n  removeInteraction(input: {own: {actionId: $actionId, kind: LIKE}}) {\n    action {\n      id\n      engagement {\n        likes\n      }\n      viewer {\n        hasLiked\n      }\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "f7d4dee4bdf4fb73d6f840d5104367d0";

export default node;
