/** The shard key of a collection, or the reason for not sharding it. */
export type ShardPlan =
  | {
      readonly collection: string;
      readonly key: Readonly<Record<string, 1 | 'hashed'>>;
      /** The operations that reach a single shard by it. */
      readonly serves: string;
    }
  | { readonly collection: string; readonly key: null; readonly because: string };

function by(collection: string, key: Readonly<Record<string, 1 | 'hashed'>>, serves: string): ShardPlan {
  return { collection, key, serves };
}

function whole(collection: string, because: string): ShardPlan {
  return { collection, key: null, because };
}

/** Shard plans of all collections, chosen so that the hot path's reads and writes contain the key. */
export const SHARD_PLANS: readonly ShardPlan[] = [
  by('actions', { _id: 'hashed' }, 'pages, live events and passes, which read actions by id'),
  by('publications', { _id: 1 }, 'an idempotency key: ids are hashes, which spread on their own'),
  by('newsfeedItems', { userId: 1 }, 'page, unread count and deliveries of a reader'),
  by('feedSlots', { userId: 1 }, 'page and deliveries of a reader'),
  by('feedRings', { _id: 1 }, 'the feed of a reader'),
  by('feedTops', { _id: 1 }, 'the feed of a reader'),
  by('timeBuckets', { userId: 1 }, 'page and deliveries of a reader'),
  by('sizeBuckets', { userId: 1 }, 'page and deliveries of a reader'),
  by('feeds', { _id: 1 }, 'the marks of a reader'),
  by('follows', { followerId: 1, refId: 1 }, 'what a reader follows; a follow and its end'),
  by('hiddenItems', { userId: 1 }, 'what a reader has hidden'),
  by('itemMarks', { '_id.userId': 1 }, 'what a reader has marked'),
  by('bookmarks', { '_id.userId': 1 }, 'the bookmarks of a reader'),
  by('interactions', { actionId: 1 }, 'the interactions of an action, and their counts'),
  by('members', { _id: 1 }, 'a member by id'),
  by('refs', { _id: 1 }, 'a ref by id'),
  whole('moderationLog', 'moderators write it, one line at a time'),
  whole('erasures', 'as many as members who were erased'),
  whole('erasedTenants', 'as many as tenants that were erased'),
  whole('hostEvents', 'one order for all of them, and no longer than EVENT_RETENTION'),
  whole('webhookReceivers', 'as many as an admin has set up'),
  whole('webhookDeliveries', 'no longer than events are kept'),
  whole('eventOutbox', 'what has not been moved yet'),
  whole('scores', 'actions of the last day, made again for each generation'),
  ...[
    'eventState',
    'rankings',
    'secrets',
    'feedEpochs',
    'schema',
    'processes',
    'writeProbes',
    'readerStamps',
    'directoryStamps',
  ].map((collection) => whole(collection, 'a handful of documents')),
];
