import { indexedFields } from '../descriptors/registry.ts';
import { type Declared, index, indexWithin, UNSENT } from '../storage/documents/declaration.ts';
import type { ActionDocument } from '../storage/documents/documents.ts';
import type { Collections } from '../storage/documents/declaration.ts';
import { erasedAction } from '../features/erasure/store/anonymise-actions.ts';
import { forgetPublications, isKeyed } from '../features/publish/store/publishing.ts';

export const ACTIONS: Declared<'actions'> = {
  name: 'actions',
  holds: 'what somebody did: content, audience, counts of interactions, progress of its fan-out',
  ids: {
    member: [
      'actorId',
      'mentions[]',
      'recipients[]',
      'otherIds[]',
      'reshares[].by',
      'unlogged[].by',
      'fanOut.checkpoint.afterUserId',
      'fanOut.former[].mentions[]',
      'fanOut.former[].recipients[]',
      'fanOut.former[].reshares[].by',
      'fanOut.toldAudience.mentions[]',
      'fanOut.toldAudience.recipients[]',
      'fanOut.toldAudience.reshares[].by',
    ],
    ref: [
      'refs[].id',
      'refIds[]',
      'undecidedRefIds[]',
      'pullRefIds[]',
      'fanOut.former[].refIds[]',
      'fanOut.former[].pullRefIds[]',
      'fanOut.toldAudience.refIds[]',
      'fanOut.toldAudience.pullRefIds[]',
    ],
    key: [
      'audience[]',
      'concerned[].key',
      'formerlyConcerned[].key',
      'fanOut.former[].audience[]',
      'fanOut.toldAudience.audience[]',
    ],
    stamp: ['names[]'],
  },
  indexes: [
    index('slice', { refIds: 1, conducted: -1, _id: -1 }, 'slice: actions of a ref, newest first'),
    index(
      'recorded_by_ref',
      { refIds: 1, recorded: -1, _id: -1 },
      'follow: the n-th newest action of a ref, and what a span holds',
    ),
    index(
      'audience',
      { audience: 1, latest: -1, _id: -1 },
      'rebuild: what is addressed to a person, a team or a department',
    ),
    index(
      'audience_bumped',
      { audience: 1, latest: -1 },
      'feed from the source: what was bumped past a place, by person, team and department',
      { partialFilterExpression: { isBumped: true } },
    ),
    index(
      'audience_named',
      { audience: 1, namedAt: -1 },
      'notifications: mentions that became news after publication, newest first',
      {
        partialFilterExpression: { namedAt: { $exists: true } },
      },
    ),
    index('source', { refIds: 1, latest: -1 }, 'feed from the source: what a reader follows, newest first'),
    index(
      'source_bumped',
      { refIds: 1, latest: -1 },
      'feed from the source: what was bumped past a place, by ref',
      { partialFilterExpression: { isBumped: true } },
    ),
    index('pull', { pullRefIds: 1, latest: -1 }, 'what is pulled when a feed is read, newest first', {
      partialFilterExpression: { pullRefIds: { $exists: true } },
    }),
    index(
      'reshared',
      { 'reshares.by': 1, latest: -1 },
      'feed from the source: what members have passed on, newest first; erasure',
      { partialFilterExpression: { reshares: { $exists: true } } },
    ),
    index(
      'claim_by_lane',
      { 'fanOut.state': 1, 'fanOut.lane': -1, 'fanOut.leaseUntil': 1 },
      'claim: the next pending action, the most urgent first; expired leases; admin: actions by a state other than DONE',
      { partialFilterExpression: { 'fanOut.leaseUntil': { $exists: true } } },
    ),
    index('offload', { 'offload.id': 1, 'offload.stage': 1 }, 'offload and restore: how far they are', {
      partialFilterExpression: { 'offload.id': { $exists: true } },
    }),
    index('groups', { groupKey: 1, latest: -1, _id: -1 }, 'feed in groups: what is shown with an action', {
      partialFilterExpression: { groupKey: { $exists: true } },
    }),
    index('expiry', { expiresAt: 1 }, 'expiry: the next action whose time has come', {
      partialFilterExpression: { expiresAt: { $exists: true } },
    }),
    index(
      'scheduled',
      { publishAt: 1, _id: 1 },
      'what is due to be published, and all that is scheduled, the next first',
      { partialFilterExpression: { publishAt: { $exists: true } } },
    ),
    index(
      'scheduled_by',
      { actorId: 1, publishAt: 1, _id: 1 },
      'what a member has scheduled, the next first, and how much',
      { partialFilterExpression: { publishAt: { $exists: true } } },
    ),
    index(
      'ahead',
      { conducted: -1 },
      'feed by time: what was conducted after it was recorded, newest first',
      {
        partialFilterExpression: { isAhead: true },
      },
    ),
    index('put_off', { publishedAt: 1 }, 'what was published later than the time in its id', {
      partialFilterExpression: { publishedAt: { $exists: true } },
    }),
    index('names', { names: 1 }, 'rename: actions that hold a name older than a version', { sparse: true }),
    index(
      'unnamed',
      { unnamed: 1, actorId: 1, recorded: 1, _id: 1 },
      'what a member calls the id of somebody who blocks them, first',
      { partialFilterExpression: { unnamed: { $exists: true } } },
    ),
    index('other_ids', { otherIds: 1 }, 'erasure and export: actions that have to do with somebody', {
      sparse: true,
    }),
    index('descriptor_tags', { 'descriptor.tags': 1 }, 'actions by tag', { sparse: true }),
    UNSENT,
    indexWithin('scheduled', { publishAt: 1, _id: 1 }, 'all that is scheduled, the next first', {
      partialFilterExpression: { publishAt: { $exists: true } },
    }),
    indexWithin('newest', { _id: -1 }, 'admin: actions, newest first'),
    indexWithin(
      'claim',
      { 'fanOut.state': 1, 'fanOut.leaseUntil': 1 },
      'admin: what is under way, or has failed',
      { partialFilterExpression: { 'fanOut.leaseUntil': { $exists: true } } },
    ),
  ],
  indexesForTypes: () =>
    indexedFields().map((field) =>
      index(
        `descriptor_${field}_newest`,
        { [`descriptor.${field}`]: 1, _id: -1 },
        `actions by ${field}, newest first`,
        { partialFilterExpression: { [`descriptor.${field}`]: { $exists: true } } },
      ),
    ),
  shard: { key: { _id: 'hashed' }, serves: 'pages, live events and passes, which read actions by id' },
  beforeRemoval: { reads: ['actorId', 'idempotencyKey'], run: removeDerived },
  erase: ['ACTIONS', 'RESHARES', 'FAN_OUTS'],
  export: ['actions'],
  action: { id: '_id', purge: { because: 'its tombstone stays' }, erased: erasedAction },
};

/** Documents that are found only through the actions go first, so that an interrupted call finds it again. */
async function removeDerived(
  { publications, scores }: Collections,
  actions: readonly ActionDocument[],
): Promise<void> {
  await Promise.all([
    forgetPublications(publications, actions.filter(isKeyed)),
    scores.deleteMany({ _id: { $in: actions.map(({ _id }) => _id) } }),
  ]);
}
