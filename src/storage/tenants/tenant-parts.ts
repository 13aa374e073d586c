import type { Document, Filter } from 'mongodb';
import { idRangeOf, type Tenant } from '../../domain/tenant.ts';

/** A collection with documents of tenants, and the filter for those of one tenant. */
export interface TenantPart {
  readonly collection: string;
  readonly ofTenant: (tenant: Tenant) => Filter<Document>;
  /** Stored feeds can be rebuilt from the rest. */
  readonly isFeed?: true;
}

function byId(field: string): TenantPart['ofTenant'] {
  return (tenant) => {
    const { from, before } = idRangeOf(tenant);
    return { [field]: { $gte: from, $lt: before } };
  };
}

const byTenant: TenantPart['ofTenant'] = (tenant) => ({ tenant });

const FACTS = ['actorId', 'followerId', 'memberId', 'readers.memberId'].map((name) => `facts.${name}`);

/**
 * Collections with data of tenants; data derived from actions comes before the actions. Filters use an index or a small
 * collection.
 */
export const TENANT_PARTS: readonly TenantPart[] = [
  { collection: 'members', ofTenant: byId('_id') },
  { collection: 'refs', ofTenant: byId('_id') },
  { collection: 'follows', ofTenant: byId('followerId') },
  { collection: 'feeds', ofTenant: byId('_id') },
  { collection: 'itemMarks', ofTenant: byId('_id.userId') },
  { collection: 'bookmarks', ofTenant: byId('_id.userId') },
  { collection: 'interactions', ofTenant: byTenant },
  { collection: 'moderationLog', ofTenant: byTenant },
  { collection: 'erasures', ofTenant: byTenant },
  {
    collection: 'eventOutbox',
    ofTenant: (tenant) => ({ $or: FACTS.map((field) => byId(field)(tenant)) }),
  },
  { collection: 'hostEvents', ofTenant: byTenant },
  { collection: 'webhookDeliveries', ofTenant: byTenant },
  { collection: 'actions', ofTenant: byTenant },
  { collection: 'newsfeedItems', ofTenant: byId('userId'), isFeed: true },
  { collection: 'feedSlots', ofTenant: byId('userId'), isFeed: true },
  { collection: 'feedRings', ofTenant: byId('_id'), isFeed: true },
  { collection: 'feedTops', ofTenant: byId('_id'), isFeed: true },
  { collection: 'timeBuckets', ofTenant: byId('userId'), isFeed: true },
  { collection: 'sizeBuckets', ofTenant: byId('userId'), isFeed: true },
];

/** All other collections, with the reason why they contain no tenant data. A test checks that each is here or above. */
export const NOT_OF_TENANTS: Readonly<Record<string, string>> = {
  publications: 'found by the actions, with which it goes; made of them',
  scores: 'found by the actions, with which it goes; made of them',
  eventState: 'of the installation',
  webhookReceivers: 'as many as an admin of the installation has set up',
  rankings: 'of the installation',
  secrets: 'of the installation',
  feedEpochs: 'of the installation',
  readerStamps: 'numbers by hashes of ids',
  directoryStamps: 'numbers by hashes of ids',
  erasedTenants: 'a hash, which stays for files that were written before',
  schema: 'of the installation',
  processes: 'of the installation',
  writeProbes: 'of the installation',
};
