/**
 * @generated SignedSource<<b094c5bee948bf65d92626a3170dfc24>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ReaderFragment } from 'relay-runtime';
export type NotificationKind = "ASSIGNED" | "COMMENT" | "FOLLOW" | "LIKE" | "MENTION" | "OWN" | "REACTION" | "REPLY" | "RESHARE" | "%future added value";
import { FragmentRefs } from "relay-runtime";
export type relay_notification$data = {
  readonly action: {
    readonly id: string;
  } | null | undefined;
  readonly at: string;
  readonly id: string;
  readonly isRead: boolean;
  readonly isSeen: boolean;
  readonly kind: NotificationKind;
  readonly summary: string;
  readonly " $fragmentType": "relay_notification";
};
export type relay_notification$key = {
  readonly " $data"?: relay_notification$data;
  readonly " $fragmentSpreads": FragmentRefs<"relay_notification">;
};

const node: ReaderFragment = (function(){
var v0 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "id",
  "storageKey": null
};
return {
  "argumentDefinitions": [],
  "kind": "Fragment",
  "metadata": null,
  "name": "relay_notification",
  "selections": [
    (v0/*:: as any*/),
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
        (v0/*:: as any*/)
      ],
      "storageKey": null
    }
  ],
  "type": "Notification",
  "abstractKey": null
};
})();

(node as any).hash = "278ea8f35394d11d1af5fd38b39e4925";

export default node;
