import { EVENT_INDEXES } from './event-indexes.ts';
import { index, type IndexDefinition } from './index-definition.ts';

/** Indexes needed with every feed model and configuration; models and types of actions add their own. */
export const INDEXES: readonly IndexDefinition[] = [
  index('actions', 'slice', { refIds: 1, conducted: -1, _id: -1 }, 'slice: actions of a ref, newest first'),
  index(
    'actions',
    'recorded_by_ref',
    { refIds: 1, recorded: -1, _id: -1 },
    'follow: the n-th newest action of a ref, and what a span holds',
  ),
  index(
    'actions',
    'audience',
    { audience: 1, latest: -1, _id: -1 },
    'rebuild: what is addressed to a person, a team or a department',
  ),
  index(
    'actions',
    'audience_bumped',
    { audience: 1, latest: -1 },
    'feed from the source: what was bumped past a place, by person, team and department',
    { partialFilterExpression: { isBumped: true } },
  ),
  index(
    'actions',
    'source',
    { refIds: 1, latest: -1 },
    'feed from the source: what a reader follows, newest first',
  ),
  index(
    'actions',
    'source_bumped',
    { refIds: 1, latest: -1 },
    'feed from the source: what was bumped past a place, by ref',
    { partialFilterExpression: { isBumped: true } },
  ),
  index(
    'actions',
    'pull',
    { pullRefIds: 1, latest: -1 },
    'what is pulled when a feed is read, newest first',
    {
      partialFilterExpression: { pullRefIds: { $exists: true } },
    },
  ),
  index(
    'actions',
    'reshared',
    { 'reshares.by': 1, latest: -1 },
    'feed from the source: what members have passed on, newest first; erasure',
    { partialFilterExpression: { reshares: { $exists: true } } },
  ),
  index(
    'actions',
    'claim',
    { 'fanOut.state': 1, 'fanOut.leaseUntil': 1 },
    'expired leases; when the next pass is due; admin: actions by a state other than DONE',
    { partialFilterExpression: { 'fanOut.leaseUntil': { $exists: true } } },
  ),
  index(
    'actions',
    'claim_by_lane',
    { 'fanOut.state': 1, 'fanOut.lane': -1, 'fanOut.leaseUntil': 1 },
    'claim: the next pending action, the most urgent first',
    { partialFilterExpression: { 'fanOut.leaseUntil': { $exists: true } } },
  ),
  index(
    'actions',
    'offload',
    { 'offload.id': 1, 'offload.stage': 1 },
    'offload and restore: how far they are',
    {
      partialFilterExpression: { 'offload.id': { $exists: true } },
    },
  ),
  index(
    'actions',
    'groups',
    { groupKey: 1, latest: -1, _id: -1 },
    'feed in groups: what is shown with an action',
    { partialFilterExpression: { groupKey: { $exists: true } } },
  ),
  index('actions', 'expiry', { expiresAt: 1 }, 'expiry: the next action whose time has come', {
    partialFilterExpression: { expiresAt: { $exists: true } },
  }),
  index('actions', 'names', { names: 1 }, 'rename: actions that hold a name older than a version', {
    sparse: true,
  }),
  index(
    'actions',
    'other_ids',
    { otherIds: 1 },
    'erasure and export: actions that have to do with somebody',
    {
      sparse: true,
    },
  ),
  index('actions', 'descriptor_tags', { 'descriptor.tags': 1 }, 'actions by tag', { sparse: true }),
  index(
    'interactions',
    'key',
    { actionId: 1, key: 1 },
    'an interaction is recorded once; counts and boosts of an action',
    { unique: true },
  ),
  index(
    'interactions',
    'list',
    { actionId: 1, kind: 1, state: 1, at: -1, _id: -1 },
    'interactions of an action, newest first',
  ),
  index(
    'interactions',
    'replies',
    { parentId: 1, state: 1, at: -1, _id: -1 },
    'replies to a comment, newest first',
    { partialFilterExpression: { parentId: { $exists: true } } },
  ),
  index(
    'interactions',
    'passed_on',
    { actorId: 1, passedOn: -1 },
    'follow: what a member has passed on since',
    { partialFilterExpression: { passedOn: { $exists: true } } },
  ),
  index(
    'interactions',
    'own',
    { actorId: 1, actionId: 1, kind: 1 },
    'what somebody did with these actions; to take it back',
  ),
  index('interactions', 'texts', { _id: -1, at: 1 }, 'admin: newest texts, to moderate', {
    partialFilterExpression: { text: { $exists: true } },
  }),
  index('interactions', 'unsettled', { settling: 1 }, 'upkeep: changes that were cut off', {
    partialFilterExpression: { settling: { $exists: true } },
  }),
  index(
    'interactions',
    'actor',
    { actorId: 1, at: -1 },
    'ranking: whose actions somebody interacts with; erasure and export: interactions by somebody',
  ),
  index(
    'follows',
    'pair',
    { followerId: 1, refId: 1 },
    'one follow per pair; what a reader follows, in a stable order',
    { unique: true },
  ),
  index('follows', 'by_ref', { refId: 1, followerId: 1 }, 'fan-out: followers of a ref in a stable order'),
  index('follows', 'assigned', { refId: 1, followerId: 1 }, 'fan-out: whom what is done concerns', {
    partialFilterExpression: { isAssigned: true },
  }),
  index('follows', 'unsettled', { settling: 1 }, 'upkeep: follows and unfollows that were cut off', {
    partialFilterExpression: { settling: { $exists: true } },
  }),
  index(
    'itemMarks',
    'state',
    { '_id.userId': 1, state: 1, at: -1, '_id.actionId': -1 },
    'what a reader has hidden or archived, newest first; erasure and export',
  ),
  index('itemMarks', 'unread', { '_id.userId': 1 }, 'what a reader has marked as unread', {
    partialFilterExpression: { isUnread: true },
  }),
  index(
    'itemMarks',
    'snoozes',
    { '_id.userId': 1, until: -1 },
    'what a reader has snoozed, and what of it is back in the feed',
    { partialFilterExpression: { until: { $exists: true } } },
  ),
  index('itemMarks', 'snoozes_due', { due: 1 }, 'the next snoozes that end', {
    partialFilterExpression: { due: { $exists: true } },
  }),
  index('itemMarks', 'action', { '_id.actionId': 1 }, 'purge of an action'),
  index(
    'bookmarks',
    'newest',
    { '_id.userId': 1, at: -1, '_id.actionId': -1 },
    "a reader's bookmarks, newest first; erasure and export",
  ),
  index('bookmarks', 'action', { '_id.actionId': 1 }, 'purge of an action'),
  index(
    'moderationLog',
    'action',
    { actionId: 1, at: -1, _id: -1 },
    'what was done to an action, newest first',
  ),
  index('moderationLog', 'newest', { at: -1, _id: -1 }, 'what was done to any action, newest first'),
  index(
    'moderationLog',
    'by',
    { by: 1, at: -1, _id: -1 },
    'erasure and export: what somebody did as a moderator',
  ),
  index('refs', 'pulled', { isPulled: 1 }, 'which refs have actions that are pulled', {
    partialFilterExpression: { isPulled: { $exists: true } },
  }),
  index('refs', 'followers', { followerCount: -1 }, 'which refs have become too big to push to'),
  index('feeds', 'muted', { muted: 1 }, 'erasure: who mutes somebody', { sparse: true }),
  index('feeds', 'mutes', { 'mutes.value': 1 }, 'erasure and export: who mutes somebody otherwise', {
    sparse: true,
  }),
  index('feeds', 'mute_wake', { muteWakeAt: 1 }, 'whose mutes have come to an end', {
    partialFilterExpression: { muteWakeAt: { $exists: true } },
  }),
  index('feeds', 'active', { activeAt: 1 }, 'whether anybody has stopped reading', { sparse: true }),
  index('feeds', 'awaited', { awaitedSince: 1 }, 'whether anybody has not begun to read', {
    partialFilterExpression: { awaitedSince: { $exists: true } },
  }),
  index('feeds', 'trim', { trimAt: 1 }, 'the next feed whose rest may be forgotten', {
    partialFilterExpression: { trimAt: { $exists: true } },
  }),
  index('feeds', 'rebuild', { rebuildAt: 1 }, 'the next feed to rebuild', {
    partialFilterExpression: { rebuildAt: { $exists: true } },
  }),
  ...(['refs', 'members'] as const).map((collection) =>
    index(collection, 'rename', { 'rename.due': 1 }, 'rename: the next name to carry to its copies', {
      partialFilterExpression: { 'rename.due': { $exists: true } },
    }),
  ),
  index(
    'members',
    'supervisor',
    { supervisorId: 1, _id: 1 },
    'erasure and export: whose supervisor somebody is',
  ),
  index('erasures', 'due', { dueAt: 1 }, 'erasure: the next one to take up', {
    partialFilterExpression: { dueAt: { $exists: true } },
  }),
  index('erasures', 'newest', { startedAt: -1, _id: -1 }, 'erasures, the latest first'),
  ...EVENT_INDEXES,
  index('members', 'team', { teamId: 1, _id: 1 }, 'fan-out: members of a team in a stable order'),
  index(
    'members',
    'department',
    { departmentId: 1, _id: 1 },
    'fan-out: members of a department in a stable order',
  ),
];
