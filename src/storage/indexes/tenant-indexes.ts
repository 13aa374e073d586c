import { index, type IndexDefinition } from './index-definition.ts';

/** Indexes for lists of a tenant. Not created without tenants. */
export const TENANT_INDEXES: readonly IndexDefinition[] = [
  index('actions', 'tenant', { tenant: 1, _id: -1 }, 'admin: actions of a tenant, newest first'),
  index(
    'actions',
    'tenant_claim',
    { tenant: 1, 'fanOut.state': 1, 'fanOut.leaseUntil': 1 },
    'admin: what is under way in a tenant, or has failed',
    { partialFilterExpression: { 'fanOut.leaseUntil': { $exists: true } } },
  ),
  index(
    'interactions',
    'tenant_texts',
    { tenant: 1, _id: -1 },
    'admin: newest texts of a tenant, to moderate',
    { partialFilterExpression: { text: { $exists: true } } },
  ),
  index(
    'moderationLog',
    'tenant',
    { tenant: 1, at: -1, _id: -1 },
    'what was done to any action of a tenant, newest first',
  ),
  index(
    'erasures',
    'tenant',
    { tenant: 1, startedAt: -1, _id: -1 },
    'erasures of a tenant, the latest first',
  ),
  index('hostEvents', 'tenant', { tenant: 1, seq: 1 }, 'events for hosts of a tenant, in order'),
  index(
    'hostEvents',
    'tenant_type',
    { tenant: 1, type: 1, seq: 1 },
    'events of some types of a tenant, in order',
  ),
  index(
    'webhookDeliveries',
    'tenant',
    { tenant: 1, seq: -1, _id: -1 },
    'admin: deliveries of a tenant, the newest event first',
  ),
];
