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
  by('publications', { _id: 1 }, 'an idempotency key; ids are hashes and therefore spread evenly'),
  by('newsfeedItems', { userId: 1 }, 'page, unread count and deliveries of a reader'),
  by('feedSlots', { userId: 1 }, 'page and deliveries of a reader'),
  by('feedRings', { _id: 1 }, 'the feed of a reader'),
  by('feedTops', { _id: 1 }, 'the feed of a reader'),
  by('timeBuckets', { userId: 1 }, 'page and deliveries of a reader'),
  by('sizeBuckets', { userId: 1 }, 'page and deliveries of a reader'),
  by('feeds', { _id: 1 }, 'the marks of a reader'),
  by('follows', { followerId: 1, refId: 1 }, 'follows of a reader; follow and unfollow'),
  by('itemMarks', { '_id.userId': 1 }, 'marked items of a reader'),
  by('bookmarks', { '_id.userId': 1 }, 'the bookmarks of a reader'),
  by('interactions', { actionId: 1 }, 'the interactions of an action, and their counts'),
  by('members', { _id: 1 }, 'a member by id'),
  by('refs', { _id: 1 }, 'a ref by id'),
  whole('moderationLog', 'written by moderators only, one entry at a time'),
  whole('erasures', 'one document per erased member'),
  whole('erasedTenants', 'one document per erased tenant'),
  whole('hostEvents', 'one order for all events; kept for EVENT_RETENTION'),
  whole('webhookReceivers', 'one document per configured receiver'),
  whole('webhookDeliveries', 'kept as long as events'),
  whole('eventOutbox', 'only events that have not been moved yet'),
  whole('scores', 'actions of the last day, recomputed for each generation'),
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
  ].map((collection) => whole(collection, 'a few documents')),
];
