/**
 * @generated SignedSource<<d010802e7f966ea9ea97d73b5c8350f6>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
export type relayMarkSeenMutation$variables = {
  upTo: string;
};
export type relayMarkSeenMutation$data = {
  readonly markNotificationsSeen: {
    readonly memberId: string;
  };
};
export type relayMarkSeenMutation = {
  response: relayMarkSeenMutation$data;
  variables: relayMarkSeenMutation$variables;
};

const node: ConcreteRequest = (function(){
var v0 = [
  {
    "defaultValue": null,
    "kind": "LocalArgument",
    "name": "upTo"
  }
],
v1 = [
  {
    "alias": null,
    "args": [
      {
        "kind": "Variable",
        "name": "upTo",
        "variableName": "upTo"
      }
    ],
    "concreteType": "Viewer",
    "kind": "LinkedField",
    "name": "markNotificationsSeen",
    "plural": false,
    "selections": [
      {
        "alias": null,
        "args": null,
        "kind": "ScalarField",
        "name": "memberId",
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
    "name": "relayMarkSeenMutation",
    "selections": (v1/*:: as any*/),
    "type": "Mutation",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "relayMarkSeenMutation",
    "selections": (v1/*:: as any*/)
  },
  "params": {
    "cacheID": "118c22de9f79f8500d975157a34b222f",
    "id": null,
    "metadata": {},
    "name": "relayMarkSeenMutation",
    "operationKind": "mutation",
    "text": "mutation relayMarkSeenMutation(\n  $upTo: DateTime!\n) {\n  markNotificationsSeen(upTo: $upTo) {\n    memberId\n  }\n}\n"
  }
};
})();

(node as any).hash = "531afbdfeebd49f60774fb8cc67cd759";

export default node;
