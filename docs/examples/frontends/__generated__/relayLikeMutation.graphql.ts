/**
 * @generated SignedSource<<ffe7283c1afee668391aa0dd52b8b9ac>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
export type relayLikeMutation$variables = {
  actionId: string;
};
export type relayLikeMutation$data = {
  readonly addInteraction: {
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
export type relayLikeMutation$rawResponse = {
  readonly addInteraction: {
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
export type relayLikeMutation = {
  rawResponse: relayLikeMutation$rawResponse;
  response: relayLikeMutation$data;
  variables: relayLikeMutation$variables;
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
        "name": "input"
      }
    ],
    "concreteType": "InteractionPayload",
    "kind": "LinkedField",
    "name": "addInteraction",
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
    "name": "relayLikeMutation",
    "selections": (v1/*:: as any*/),
    "type": "Mutation",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "relayLikeMutation",
    "selections": (v1/*:: as any*/)
  },
  "params": {
    "cacheID": "71a03ef25350d55ece1aa686d41d1037",
    "id": null,
    "metadata": {},
    "name": "relayLikeMutation",
    "operationKind": "mutation",
    "text": "mutation relayLikeMutation(\n  $actionId: ID!\n) {\n  addInteraction(input: {actionId: $actionId, kind: LIKE}) {\n    action {\n      id\n      engagement {\n        likes\n      }\n      viewer {\n        hasLiked\n      }\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "2c70640390947ab9587f9fc9cc6fcb99";

export default node;
