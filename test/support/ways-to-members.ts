import type { GraphQLSchema } from 'graphql';
import { callsOnActions } from './calls-on-actions.ts';

/** Every field of Query, by every way to the other: their id is `$them`. Null: only staff may read it. */
export const READS: Readonly<Record<string, readonly string[] | null>> = {
  action: ['action(id: "$action")'],
  actions: null,
  erasure: null,
  erasures: null,
  explainFeedItem: ['explainFeedItem(actionId: "$action")'],
  explainNotification: [
    'explainNotification(actionId: "$action", kind: MENTION)',
    'explainNotification(actionId: "$shared", kind: RESHARE)',
  ],
  feed: [
    'feed(first: 9)',
    'feed(order: RECENT)',
    'feed(order: TOP)',
    'feed(filter: { refId: "site" })',
    'feed(filter: { actorIds: ["$them"] })',
    'feed(filter: { archived: true })',
    'feed(filter: { snoozed: true })',
  ],
  feedGroups: ['feedGroups(first: 9)'],
  feedState: null,
  hostEvents: null,
  latestInteractions: null,
  list: ['list(id: "$list")'],
  member: ['member(memberId: "$them")'],
  memberExport: null,
  members: ['members(first: 9)', 'members(search: "mx")'],
  moderationLog: null,
  node: ['$action', '$comment', '$reply', '$member', '$ref', '$report0', '$report1', '$report2'].map(
    (id) => `node(id: "${id}")`,
  ),
  nodes: ['nodes(ids: ["$action", "$comment", "$member", "$ref"])'],
  notifications: ['notifications(first: 9)'],
  ref: ['ref(refId: "$them")', 'ref(refId: "site")'],
  refs: ['refs(first: 9)', 'refs(search: "mx")'],
  reports: null,
  samples: null,
  scheduledActions: ['scheduledActions(first: 9)'],
  slice: ['slice(refId: "site")', 'slice(refId: "$them")', 'slice(refId: "cid")'],
  viewer: ['viewer'],
  webhookDeliveries: null,
  webhookReceivers: null,
  mailState: null,
  work: null,
};

/** Fields of Mutation, with what is the other's. Null: only services and staff may. */
const WRITES: Readonly<Record<string, readonly string[] | null>> = {
  addInteraction: [
    'addInteraction(input: { actionId: "$action", kind: LIKE })',
    'addInteraction(input: { actionId: "$shared", kind: COMMENT, text: "x", parentId: "$comment" })',
    'addInteraction(input: { actionId: "$shared", kind: COMMENT, text: "x", mentions: ["$them"] })',
  ],
  addMute: ['addMute(target: { memberId: "$them" })', 'addMute(target: { refId: "$them" })'],
  blockMember: ['blockMember(memberId: "dan")'],
  addToList: ['addToList(id: "$list", refIds: ["$them"])'],
  createFeedKey: ['createFeedKey(name: "x")'],
  createList: ['createList(name: "x")'],
  updateList: ['updateList(id: "$list", name: "y")'],
  removeFromList: ['removeFromList(id: "$list", refIds: ["$them"])'],
  deleteList: ['deleteList(id: "$list")'],
  createTicket: ['createTicket'],
  deleteAction: ['deleteAction(id: "$action")'],
  eraseMember: null,
  follow: ['follow(refId: "$them")'],
  followMany: null,
  hideAction: null,
  hideInteraction: null,
  markFeedRead: ['markFeedRead(upTo: "2020-01-01T00:00:00Z")'],
  markItemsRead: ['markItemsRead(actionIds: ["$action"])'],
  markItemsUnread: ['markItemsUnread(actionIds: ["$action"])'],
  markNotificationsRead: ['markNotificationsRead(upTo: "2020-01-01T00:00:00Z")'],
  markNotificationsSeen: ['markNotificationsSeen(upTo: "2020-01-01T00:00:00Z")'],
  pinAction: ['pinAction(refId: "$me", actionId: "$action")'],
  publishAction: ['publishAction(input: { mentions: ["$them"], descriptor: { posted: { postId: "q" } } })'],
  publishActions: [
    'publishActions(inputs: [{ mentions: ["$them"], descriptor: { posted: { postId: "q" } } }])',
  ],
  rebuildFeed: null,
  recordImpressions: ['recordImpressions(impressions: [{ actionId: "$action" }])'],
  registerPush: ['registerPush(endpoint: "https://push.example/one", p256dh: "x", auth: "x")'],
  removeInteraction: [
    'removeInteraction(input: { id: "$comment" })',
    'removeInteraction(input: { own: { actionId: "$action", kind: LIKE } })',
  ],
  removeMute: ['removeMute(target: { memberId: "$them" })', 'removeMute(target: { refId: "$them" })'],
  renameRef: null,
  report: [
    'report(actionId: "$action", reason: "x")',
    'report(interactionId: "$comment", reason: "x")',
    'report(memberId: "$them", reason: "x")',
  ],
  resolveReport: null,
  retryFanOut: null,
  retryWebhook: null,
  revokeFeedKey: [
    'revokeFeedKey(id: "RmVlZEtleTphYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFh")',
  ],
  sendTestEvent: null,
  showLess: ['showLess(actionId: "$action")'],
  setNotificationPreferences: [
    'setNotificationPreferences(preferences: [{ kind: LIKE, channel: EMAIL, isOn: true }])',
  ],
  setQuietHours: ['setQuietHours'],
  takeReport: null,
  undoShowLess: ['undoShowLess(actionId: "$action")'],
  unblockMember: ['unblockMember(memberId: "dan")'],
  unfollow: ['unfollow(refId: "$them", keepHistory: true)'],
  unfollowMany: null,
  unhideAction: null,
  unhideInteraction: null,
  unpinAction: ['unpinAction(refId: "$me", actionId: "$action")'],
  resumeMails: ['resumeMails'],
  unregisterPush: ['unregisterPush(endpoint: "https://push.example/one")'],
  updateAction: ['updateAction(id: "$action", input: { mentions: [] })'],
  updateInteraction: ['updateInteraction(id: "$comment", text: "x")'],
  upsertMembers: null,
  upsertRefs: null,
};

/** Every field of Mutation. */
export function writesOf(schema: GraphQLSchema): Readonly<Record<string, readonly string[] | null>> {
  const onActions = callsOnActions(schema, { action: '"$action"', time: '"2100-01-01T00:00:00Z"' });
  return { ...onActions, ...WRITES };
}

/** Every field of Subscription. @param after arguments to resume, or none @param thread global id of an action */
export const WATCHES: Readonly<Record<string, (after: string, thread: string) => string>> = {
  actionEvents: (after, thread) => `actionEvents(actionId: "${thread}"${after.replace('(', ', ') || ')'}`,
  feedEvents: (after) => `feedEvents${after}`,
  notificationEvents: (after) => `notificationEvents${after}`,
  sliceEvents: (after) => `sliceEvents(refId: "site"${after.replace('(', ', ') || ')'}`,
};
