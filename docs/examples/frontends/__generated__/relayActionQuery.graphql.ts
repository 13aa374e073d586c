/**
 * @generated SignedSource<<de62c2c0e77335249025e728dc098af6>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
export type relayActionQuery$variables = {
  id: string;
};
export type relayActionQuery$data = {
  readonly action: {
    readonly engagement: {
      readonly likes: number;
    };
    readonly id: string;
    readonly viewer: {
      readonly hasLiked: boolean;
    };
  } | null | undefined;
};
export type relayActionQuery = {
  response: relayActionQuery$data;
  variables: relayActionQuery$variables;
};

const node: ConcreteRequest = (function(){
var v0 = [
  {
    "defaultValue": null,
    "kind": "LocalArgument",
    "name": "id"
  }
],
v1 = [
  {
    "alias": null,
    "args": [
      {
        "kind": "Variable",
        "name": "id",
        "variableName": "id"
      }
    ],
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
];
return {
  "fragment": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Fragment",
    "metadata": null,
    "name": "relayActionQuery",
    "selections": (v1/*:: as any*/),
    "type": "Query",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "relayActionQuery",
    "selections": (v1/*:: as any*/)
  },
  "params": {
    "cacheID": "8bd458d87cd5c293115ce290845bfb64",
    "id": null,
    "metadata": {},
    "name": "relayActionQuery",
    "operationKind": "query",
    "text": "query relayActionQuery(\n  $id: ID!\n) {\n  action(id: $id) {\n    id\n    engagement {\n      likes\n    }\n    viewer {\n      hasLiked\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "9a48f9731e5ddb1096a887ffe60114e2";

export default node;
