import { index, type IndexDefinition } from './index-definition.ts';

/** Indexes for host events, from the documents that contain them to their delivery. */
export const EVENT_INDEXES: readonly IndexDefinition[] = [
  ...(['actions', 'interactions', 'follows', 'erasures'] as const).map((collection) =>
    index(collection, 'unsent', { unsentAt: 1 }, 'events for hosts: what has not been moved yet', {
      partialFilterExpression: { unsentAt: { $exists: true } },
    }),
  ),
  index('eventOutbox', 'unsent', { unsentAt: 1 }, 'events for hosts: what has not been moved yet'),
  index('hostEvents', 'order', { seq: 1 }, 'events for hosts, in order; each number once', { unique: true }),
  index('hostEvents', 'type', { type: 1, seq: 1 }, 'events of some types, in order; erasure: deliveries'),
  index('hostEvents', 'age', { storedAt: 1 }, 'events that are not kept any longer'),
  index('hostEvents', 'members', { memberIds: 1 }, 'erasure and export: events that name somebody', {
    sparse: true,
  }),
  index('feeds', 'digest', { digestAt: 1 }, 'events for hosts: the next readers to be reminded', {
    partialFilterExpression: { digestAt: { $exists: true } },
  }),
  index(
    'webhookDeliveries',
    'due',
    { url: 1, state: 1, nextAttemptAt: 1, seq: 1 },
    'webhooks: what a receiver is to be sent again',
  ),
  index(
    'webhookDeliveries',
    'action',
    { url: 1, actionId: 1, state: 1 },
    'webhooks: whether an earlier event of an action waits',
    { partialFilterExpression: { actionId: { $exists: true } } },
  ),
  index(
    'webhookDeliveries',
    'newest',
    { seq: -1, _id: -1 },
    'admin: deliveries, the newest event first; what belongs to events that are not kept any longer',
  ),
  index(
    'webhookDeliveries',
    'newest_by_state',
    { state: 1, seq: -1, _id: -1 },
    'admin: deliveries of a state, the newest event first',
  ),
];
