import { retryOnDuplicateKey } from '../../../storage/database/errors.ts';
import type { Collections } from '../../../storage/database/mongo.ts';
import {
  type Declared,
  index,
  indexWithin,
  NOT_OF_ACTIONS,
  ofInstallation,
} from '../../../storage/documents/declaration.ts';
import type { HostEventDocument } from '../../../storage/documents/event-documents.ts';

export const HOST_EVENTS: Declared<'hostEvents'> = {
  name: 'hostEvents',
  holds: 'an event for hosts',
  ids: {
    member: [
      'facts.actorId',
      'facts.followerId',
      'facts.memberId',
      'facts.readers[].memberId',
      'memberIds[]',
    ],
    ref: ['facts.refId'],
  },
  indexes: [
    index('order', { seq: 1 }, 'events for hosts, in order; each number once', { unique: true }),
    index('type', { type: 1, seq: 1 }, 'events of some types, in order; erasure: deliveries'),
    index('age', { storedAt: 1 }, 'events that are not kept any longer'),
    index('members', { memberIds: 1 }, 'erasure and export: events that name somebody', { sparse: true }),
    indexWithin('order', { seq: 1 }, 'events for hosts, in order'),
    indexWithin('type', { type: 1, seq: 1 }, 'events of some types, in order'),
  ],
  shard: { because: 'one order for all events; kept for EVENT_RETENTION' },
  beforeRemoval: { reads: ['seq'], run: noteRemovedNumbers },
  erase: ['EVENTS'],
  export: ['events'],
  action: NOT_OF_ACTIONS,
};

/** A receiver that has read them would miss a later event with the same number. */
async function noteRemovedNumbers(
  { eventState }: Collections,
  events: readonly HostEventDocument[],
): Promise<void> {
  const removedUpTo = Math.max(...events.map(({ seq }) => seq));
  await retryOnDuplicateKey(() =>
    eventState.updateOne({ _id: 'events' }, { $max: { removedUpTo } }, { upsert: true }),
  );
}

export const EVENT_STATE = ofInstallation('eventState', 'the progress of moving events');
