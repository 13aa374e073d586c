import { getNamedType, isLeafType, type GraphQLSchema, type OperationTypeNode } from 'graphql';
import { callsOnActions } from './calls-on-actions.ts';
import { wholeSelection } from './whole-selection.ts';

/** Global ids that only one tenant has. */
export interface TenantIds {
  readonly action: string;
  readonly own: string;
  readonly doomed: string;
  readonly comment: string;
  readonly spoken: string;
  readonly delivery: string;
  readonly report: string;
  readonly list: string;
  readonly doomedList: string;
}

/** One way to ask: the field with its arguments. Global ids are variables, by the names of `TenantIds`. */
type Call = string;

const D = 'descriptor: { posted: { postId: "p1", postTitle: "T", text: "word" } }';

/** Every field of Query, by every way that it can be asked by. */
export const READS: Readonly<Record<string, readonly Call[]>> = {
  action: ['action(id: $action)'],
  actions: [
    'actions(first: 9)',
    'actions(includeHidden: true, filter: { actorIds: ["bob"], descriptor: { field: "raterId", value: "bob" } })',
    'actions(fanOutState: DONE)',
  ],
  erasure: ['erasure(memberId: "gone")', 'erasure(memberId: "ann")'],
  erasures: ['erasures(first: 9)'],
  explainFeedItem: [
    'explainFeedItem(actionId: $action)',
    'explainFeedItem(actionId: $action, memberId: "cid")',
  ],
  explainNotification: [
    'explainNotification(actionId: $action, kind: MENTION)',
    'explainNotification(actionId: $action, kind: COMMENT, memberId: "bob")',
  ],
  feed: [
    'feed(first: 9)',
    'feed(order: RECENT)',
    'feed(order: TOP)',
    'feed(filter: { refId: "site", actorIds: ["bob"] })',
    'feed(filter: { archived: true })',
    'feed(filter: { snoozed: true })',
    'feed(listId: $list)',
  ],
  feedGroups: ['feedGroups(first: 9)'],
  feedState: ['feedState(memberId: "ann")', 'feedState(memberId: "bob")'],
  hostEvents: ['hostEvents(first: 99)', 'hostEvents(types: ["item.delivered", "member.erased"])'],
  latestInteractions: ['latestInteractions(first: 9)'],
  list: ['list(id: $list)'],
  member: ['member(memberId: "ann")', 'member(memberId: "bob")', 'member(memberId: "gone")'],
  memberExport: ['memberExport(memberId: "ann")', 'memberExport(memberId: "bob")'],
  members: ['members(first: 9)', 'members(search: "a")'],
  moderationLog: ['moderationLog(first: 9)', 'moderationLog(actionId: $action)'],
  node: ['node(id: $action)', 'node(id: $comment)', ...globalIds().map((id) => `node(id: "${id}")`)],
  nodes: [`nodes(ids: ${JSON.stringify(globalIds())})`, 'nodes(ids: [$action, $comment])'],
  refs: ['refs(first: 9)', 'refs(search: "s", type: "site")'],
  notifications: ['notifications(first: 9)', 'notifications(filter: { kinds: [MENTION, COMMENT] })'],
  reports: ['reports(first: 9)', 'reports(state: OPEN)'],
  ref: ['ref(refId: "site")', 'ref(refId: "bob")', 'ref(refId: "p1")'],
  scheduledActions: ['scheduledActions(first: 9)', 'scheduledActions(actorId: "bob")'],
  slice: ['slice(refId: "site")', 'slice(refId: "bob")', 'slice(refId: "p1", filter: { types: ["Posted"] })'],
  viewer: ['viewer'],
  webhookReceivers: ['webhookReceivers'],
  mailState: ['mailState(memberId: "ann")'],
  webhookDeliveries: ['webhookDeliveries(first: 9)', 'webhookDeliveries(state: RETRYING)'],
  samples: ['samples'],
  work: ['work'],
};

/** Fields of Mutation, in an order in which all of them can be done. */
const WRITES: Readonly<Record<string, readonly Call[]>> = {
  upsertMembers: [
    'upsertMembers(members: [{ memberId: "dan", name: "Dan", teamId: "t1", supervisorId: "bob" }])',
  ],
  upsertRefs: ['upsertRefs(refs: [{ id: "shop", type: "site", label: "Shop", data: { note: 1 } }])'],
  followMany: ['followMany(pairs: [{ followerId: "dan", refId: "site" }])'],
  follow: ['follow(refId: "shop")'],
  publishAction: [
    `publishAction(input: { actorId: "bob", idempotencyKey: "k1", mentions: ["ann"], refs: [{ id: "site", type: "site", label: "Site" }], ${D} })`,
  ],
  publishActions: [`publishActions(inputs: [{ actorId: "bob", idempotencyKey: "k2", scope: PUBLIC, ${D} }])`],
  updateAction: ['updateAction(id: $action, input: { mentions: ["ann", "cid"] })'],
  addInteraction: [
    'addInteraction(input: { actionId: $action, kind: LIKE, idempotencyKey: "l" })',
    'addInteraction(input: { actionId: $action, kind: RESHARE })',
    'addInteraction(input: { actionId: $action, kind: COMMENT, text: "hi", actorId: "bob", parentId: $comment, mentions: ["ann", "cid"] })',
  ],
  markNotificationsSeen: ['markNotificationsSeen(upTo: "2020-01-01T00:00:00Z")'],
  markNotificationsRead: ['markNotificationsRead(upTo: "2020-01-01T00:00:00Z")'],
  setNotificationPreferences: [
    'setNotificationPreferences(preferences: [{ kind: LIKE, channel: EMAIL, isOn: true }])',
  ],
  registerPush: [
    'registerPush(endpoint: "https://push.example/ann", p256dh: "BFV51v61sWuGTubFT2yjctTjm_t3ybed-t9Ci6RyGiYnoBYvUp-bvZfNr-E9od-dyv8-yEubdz8wJ5Xox3qdEpo", auth: "AAAAAAAAAAAAAAAAAAAAAA")',
  ],
  resumeMails: ['resumeMails'],
  unregisterPush: ['unregisterPush(endpoint: "https://push.example/ann")'],
  createFeedKey: ['createFeedKey(name: "Tablet")'],
  recordImpressions: ['recordImpressions(impressions: [{ actionId: $action, ms: 1000 }])'],
  showLess: ['showLess(actionId: $action)'],
  undoShowLess: ['undoShowLess(actionId: $action)'],
  createList: ['createList(name: "Close")'],
  updateList: ['updateList(id: $list, name: "Closest")'],
  addToList: ['addToList(id: $list, refIds: ["shop"])'],
  removeFromList: ['removeFromList(id: $list, refIds: ["shop"])'],
  deleteList: ['deleteList(id: $doomedList)'],
  revokeFeedKey: [
    'revokeFeedKey(id: "RmVlZEtleTphYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFh")',
  ],
  setQuietHours: ['setQuietHours(from: "22:00", to: "07:00", timeZone: "Europe/Berlin")'],
  updateInteraction: ['updateInteraction(id: $comment, text: "other")'],
  removeInteraction: [
    'removeInteraction(input: { own: { actionId: $action, kind: LIKE } })',
    'removeInteraction(input: { id: $spoken })',
  ],
  report: [
    'report(actionId: $action, reason: "spam", text: "why")',
    'report(memberId: "dan", reason: "spam")',
  ],
  takeReport: ['takeReport(id: $report)'],
  resolveReport: ['resolveReport(id: $report, outcome: "done")'],
  hideInteraction: ['hideInteraction(id: $comment, reason: "why")'],
  unhideInteraction: ['unhideInteraction(id: $comment)'],
  hideAction: ['hideAction(id: $action, reason: "why")'],
  unhideAction: ['unhideAction(id: $action)'],
  pinAction: ['pinAction(refId: "site", actionId: $action)'],
  unpinAction: ['unpinAction(refId: "site", actionId: $action)'],
  markItemsRead: ['markItemsRead(actionIds: [$action])'],
  markItemsUnread: ['markItemsUnread(actionIds: [$action])'],
  markFeedRead: ['markFeedRead(upTo: "2020-01-01T00:00:00Z")'],
  blockMember: ['blockMember(memberId: "dan")'],
  unblockMember: ['unblockMember(memberId: "dan")'],
  addMute: ['addMute(target: { refId: "shop" })', 'addMute(target: { memberId: "dan" })'],
  removeMute: ['removeMute(target: { refId: "shop" })', 'removeMute(target: { memberId: "dan" })'],
  renameRef: ['renameRef(refId: "site", label: "Sight")'],
  rebuildFeed: ['rebuildFeed(memberId: "cid")'],
  retryFanOut: ['retryFanOut(id: $action)'],
  sendTestEvent: ['sendTestEvent'],
  retryWebhook: ['retryWebhook(id: $delivery)'],
  createTicket: ['createTicket'],
  unfollow: ['unfollow(refId: "shop", keepHistory: false)'],
  unfollowMany: ['unfollowMany(pairs: [{ followerId: "dan", refId: "site" }], keepHistory: false)'],
  eraseMember: ['eraseMember(memberId: "dan")'],
  deleteAction: ['deleteAction(id: $doomed)'],
};

/** Every field of Mutation, in an order in which all of them can be done. */
export function writesOf(schema: GraphQLSchema): Readonly<Record<string, readonly Call[]>> {
  return { ...callsOnActions(schema, { action: '$action', time: '$soon' }), ...WRITES };
}

/** What is refused also to who has the ids: a fan-out that has not failed. */
export const REFUSED: ReadonlySet<string> = new Set(['retryFanOut']);

function globalIds(): string[] {
  const keys = [
    'Member:ann',
    'Member:bob',
    'Ref:site',
    'Ref:p1',
    `NewsfeedItem:ann:${'0'.repeat(24)}`,
    'Notification:ann:FOLLOW:2026-01-01',
  ];
  return keys.map((key) => Buffer.from(key).toString('base64'));
}

/** How deep objects are asked for. */
const DEPTH = 3;

const TYPES: Readonly<Record<string, string>> = { soon: 'DateTime!' };

export interface TableRow {
  readonly field: string;
  readonly call: string;
  readonly document: string;
  /** Names of the ids it is given. */
  readonly ids: readonly string[];
}

/** The documents of a table, with everything that can be asked of each answer. */
export function rowsOf(
  schema: GraphQLSchema,
  kind: 'query' | 'mutation' | 'subscription',
  table: Readonly<Record<string, readonly Call[]>>,
  depth = DEPTH,
  without?: ReadonlySet<string>,
): TableRow[] {
  const root = schema.getRootType(kind as OperationTypeNode);
  if (root == null) throw new Error('The schema has no such operations');
  return Object.entries(table).flatMap(([field, calls]) => {
    const declared = root.getFields()[field];
    if (declared === undefined) throw new Error(`${field} is not in the schema`);
    const type = getNamedType(declared.type);
    // Its entries are asked for with one list, not with a hundred.
    const left = field === 'viewer' ? new Set([...(without ?? []), 'ReaderList.entries']) : without;
    const selection = isLeafType(type) ? '' : wholeSelection(schema, type, depth, left);
    return calls.map((call) => {
      const names = [...new Set([...call.matchAll(/\$(\w+)/g)].map(([, name = '']) => name))];
      const variables = names.map((name) => `$${name}: ${TYPES[name] ?? 'ID!'}`).join(', ');
      const head = variables === '' ? kind : `${kind} (${variables})`;
      const ids = names.filter((name) => name !== 'soon');
      return { field, call, document: `${head} { ${call} ${selection} }`, ids };
    });
  });
}
