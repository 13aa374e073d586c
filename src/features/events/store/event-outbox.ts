import { upTo } from '../../../storage/database/batches.ts';
import type { Collection, Filter } from 'mongodb';
import type { Action, UserId } from '../../../domain/action.ts';
import type {
  DeliveredReader,
  DueNotification,
  ShownType,
  UnreadFacts,
  hostEventOf,
} from '../../../domain/host-event.ts';
import { clock } from '../../../lib/clock.ts';
import type { HostEventDocument, OutboxDocument } from '../../../storage/documents/event-documents.ts';
import { duplicatePositions, retryOnDuplicateKey } from '../../../storage/database/errors.ts';
import { type Collections, newObjectId } from '../../../storage/database/mongo.ts';
import { eventIdOf, eventsOfInteraction } from './event-facts.ts';
import {
  type Declared,
  NOT_OF_ACTIONS,
  index,
  indexWithin,
  ofInstallation,
} from '../../../storage/documents/declaration.ts';
import type { InteractionDocument } from '../../../storage/documents/documents.ts';

declare module '../../../storage/repositories.ts' {
  interface Repositories {
    readonly eventOutbox: ReturnType<typeof eventOutboxRepository>;
  }
}

const BATCH = 500;

/**
 * Moves the events of a batch of interactions to the outbox, then deletes these interactions. Returns their number. Safe to
 * interrupt and repeat: no event is lost or duplicated.
 */
export async function rescueEvents(
  { interactions, eventOutbox }: Collections,
  filter: Filter<InteractionDocument>,
): Promise<number> {
  const found = await interactions.find({ ...filter, unsentAt: { $exists: true } }, upTo(BATCH)).toArray();
  if (found.length === 0) return 0;
  await putIntoOutbox(eventOutbox, found.flatMap(eventsOfInteraction));
  await interactions.bulkWrite(
    found.map(({ _id, unsent }) => ({
      // An interaction with a new event is left for the next batch.
      deleteOne: { filter: { _id, unsent: unsent ?? [] } },
    })),
    { ordered: false },
  );
  return found.length;
}

export const EVENT_OUTBOX: Declared<'eventOutbox'> = {
  name: 'eventOutbox',
  holds: 'an event for hosts that has not been moved to the log yet',
  ids: {
    member: ['facts.actorId', 'facts.followerId', 'facts.memberId', 'facts.readers[].memberId'],
    ref: ['facts.refId'],
  },
  indexes: [index('unsent', { unsentAt: 1 }, 'events for hosts: what has not been moved yet')],
  shard: { because: 'only events that have not been moved yet' },
  erase: ['EVENTS'],
  export: { because: 'moved to the log within seconds' },
  action: NOT_OF_ACTIONS,
};

/** Unique key: `_id`. Existing events stay unchanged. */
export async function putIntoOutbox(
  outbox: Collection<OutboxDocument>,
  events: readonly Parameters<typeof hostEventOf>[0][],
): Promise<void> {
  if (events.length === 0) return;
  try {
    await outbox.insertMany(
      events.map(({ id, type, at, facts }) => ({ _id: id, type, at, unsentAt: at, facts })),
      { ordered: false },
    );
  } catch (error) {
    // Ignores those that exist already; throws any other error.
    duplicatePositions(error);
  }
}

export interface DeliveredChunk {
  readonly action: Action;
  /** The first and the last reader of the chunk, whether notified or not. */
  readonly first: UserId;
  readonly last: UserId;
  /** The version of the pass, for readers who gained the action; `null`: the first pass of the action. */
  readonly version: number | null;
  readonly readers: readonly DeliveredReader[];
}

/** How often actions were shown in a view, in an hour. */
export interface ShownInView {
  /** What the ids of its readers begin with. */
  readonly beside: string;
  /** `null`: in none. */
  readonly view: string | null;
  readonly types: readonly ShownType[];
}

/** Events that belong to no other document: deliveries, and things that did not happen. */
export function eventOutboxRepository({ eventOutbox }: Collections) {
  return {
    /**
     * Records the readers to whom actions were delivered. When a chunk is repeated, its first and last reader are the same,
     * and so are its events. One write.
     */
    async putDelivered(chunks: readonly DeliveredChunk[]): Promise<void> {
      const at = clock.now();
      await putIntoOutbox(
        eventOutbox,
        chunks.map(({ action, first, last, version, readers }) => {
          const { id: actionId, actorId, descriptor, scope } = action;
          const pass = version === null ? [] : [String(version)];
          return {
            id: eventIdOf('delivered', actionId, first, last, ...pass),
            ...{ type: 'item.delivered', at },
            facts: { actionId, actorId, descriptorType: descriptor.type, scope, readers },
          };
        }),
      );
    },

    /** Records that a digest is due. The same due time gives the same event. One write. */
    async putDigest(due: { readonly id: UserId; readonly dueAt: Date }, unread: UnreadFacts): Promise<void> {
      const id = eventIdOf('digest', due.id, due.dueAt.toISOString());
      const facts = { memberId: due.id, unread };
      await putIntoOutbox(eventOutbox, [{ id, type: 'digest.due', at: clock.now(), facts }]);
    },

    /**
     * Records of what a member is notified. The same pending events give the same event, whatever of them was decided. One
     * write.
     */
    async putNotifications(
      due: { readonly id: UserId; readonly pending: readonly string[] },
      notifications: readonly DueNotification[],
      at: Date,
    ): Promise<void> {
      const id = eventIdOf('notification', due.id, ...due.pending);
      const facts = { memberId: due.id, notifications };
      await putIntoOutbox(eventOutbox, [{ id, type: 'notification.due', at, facts }]);
    },

    /** Records what was shown in the hour that began then, by view. The same hour gives the same events. One write. */
    async putShown(from: Date, shown: readonly ShownInView[]): Promise<void> {
      const at = clock.now();
      await putIntoOutbox(
        eventOutbox,
        shown.map(({ beside, view, types }) => ({
          id: eventIdOf('shown', from.toISOString(), beside, view ?? ''),
          ...{ type: 'impressions.hourly', at },
          facts: { beside, view, from, shown: types },
        })),
      );
    },

    /** Records that somebody tests whether events arrive. Returns the id of the event. One write. */
    async putTest(memberId: UserId): Promise<string> {
      const id = eventIdOf('test', memberId, newObjectId());
      await putIntoOutbox(eventOutbox, [{ id, type: 'webhook.test', at: clock.now(), facts: { memberId } }]);
      return id;
    },
  };
}

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
