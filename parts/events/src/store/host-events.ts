import type { Filter } from 'mongodb';
import {
  MAX_READERS_PER_PAGE,
  type HostEvent,
  type HostEventType,
  type NumberedHostEvent,
} from '../../../../src/domain/host-event.ts';
import type { Tenant } from '../../../../src/domain/stored-id.ts';
import type { HostEventDocument } from '../../../../src/storage/documents/event-documents.ts';
import { isDuplicateKey, retryOnDuplicateKey } from '../../../../src/storage/database/errors.ts';
import { leased } from '../../../../src/storage/database/lease.ts';
import type { Collections } from '../../../../src/storage/database/mongo.ts';
import { inOneBatch, upTo } from '../../../../src/storage/database/batches.ts';

/** Attempts before leaving contended numbers to a later call. */
const MAX_TRIES = 10;

export interface EventPageQuery {
  /** Exclusive: events after this number. */
  readonly after: number;
  /** Inclusive: up to this number. */
  readonly upTo: number;
  /** Absent: of all, or tenants are off. */
  readonly tenant?: Tenant | null;
  /** `null`: all types. */
  readonly types: readonly HostEventType[] | null;
  /** The last ones first. Default: no. */
  readonly isUp?: boolean;
  readonly limit: number;
}

export interface EventRange {
  /** Events up to and including this number have been deleted. */
  readonly deletedUpTo: number;
  readonly last: number;
}

/**
 * The log of events. A number is written only after the preceding one, no matter who writes it: a reader that has read up to
 * a number has missed nothing before it. `lease` avoids duplicate work between processes; correctness does not depend on it.
 */
export function hostEventsRepository({ hostEvents, eventState }: Collections) {
  const leases = leased(eventState, 'lease');

  /** The highest number given so far, also if its event was removed, and which of the events have a number. */
  async function numbered(ids: readonly string[]): Promise<{ last: number; known: ReadonlySet<string> }> {
    const found = await hostEvents
      .aggregate<{ readonly last?: number; readonly _id?: string }>(
        [
          { $sort: { seq: -1 } },
          { $limit: 1 },
          { $project: { _id: 0, last: '$seq' } },
          // After the log, because it is written before events are removed.
          {
            $unionWith: {
              coll: eventState.collectionName,
              pipeline: [{ $project: { _id: 0, last: { $max: ['$deletedUpTo', '$removedUpTo'] } } }],
            },
          },
          ...(ids.length === 0
            ? []
            : [
                {
                  $unionWith: {
                    coll: hostEvents.collectionName,
                    pipeline: [{ $match: { _id: { $in: ids } } }, { $project: { _id: 1 } }],
                  },
                },
              ]),
        ],
        { batchSize: ids.length + 3 },
      )
      .toArray();
    return {
      last: Math.max(0, ...found.map(({ last }) => last ?? 0)),
      known: new Set(found.flatMap(({ _id }) => _id ?? [])),
    };
  }

  return {
    /** Takes or extends the lease for moving events. `false`: another process has it. One round trip. */
    async lease(token: string, now: Date, leaseMs: number): Promise<boolean> {
      return (await leases.take('events', { token, now, leaseMs }, { initial: {} })) !== null;
    },

    /** Releases the lease. */
    release: (token: string) => leases.leave({ id: 'events', token }),

    /**
     * Appends events to the log in order; events already in it keep their number. Two commands, more if another process
     * appends at the same time. Unique keys: `_id`, `order`.
     */
    async append(events: readonly HostEvent[], storedAt: Date): Promise<void> {
      for (let tries = 1; ; tries++) {
        const { last, known } = await numbered(events.map(({ id }) => id));
        const fresh = events.filter(({ id }) => !known.has(id));
        if (fresh.length === 0) return;
        try {
          await hostEvents.insertMany(
            fresh.map((event, index) => newDocument(event, last + index + 1, storedAt)),
            { ordered: true },
          );
          return;
        } catch (error) {
          if (!isDuplicateKey(error) || tries === MAX_TRIES) throw error;
        }
      }
    },

    /** The range of readable events. One round trip. */
    async range(): Promise<EventRange> {
      const [state, { last }] = await Promise.all([eventState.findOne({ _id: 'events' }), numbered([])]);
      return { deletedUpTo: state?.deletedUpTo ?? 0, last };
    },

    /**
     * In order; fewer than requested at the end, or when they name more readers than an answer can contain. Indexes `order`,
     * `type`.
     */
    async page({ tenant, after, upTo, types, isUp = false, limit }: EventPageQuery): Promise<{
      readonly events: readonly NumberedHostEvent[];
      readonly isCut: boolean;
    }> {
      const filter: Filter<HostEventDocument> = {
        ...(tenant == null ? {} : { tenant }),
        seq: { $gt: after, $lte: upTo },
        ...(types === null ? {} : { type: { $in: [...types] } }),
      };
      const events: NumberedHostEvent[] = [];
      let readers = 0;
      for await (const document of hostEvents
        .find(filter)
        .sort({ seq: isUp ? -1 : 1 })
        .limit(limit)
        .batchSize(limit + 1)) {
        readers += document.facts.readers?.length ?? 0;
        if (readers > MAX_READERS_PER_PAGE && events.length > 0) return { events, isCut: true };
        events.push(toEvent(document));
      }
      return { events, isCut: false };
    },

    /** The events among these that still exist. Unique key: `_id`. */
    async byIds(ids: readonly string[]): Promise<Map<string, NumberedHostEvent>> {
      if (ids.length === 0) return new Map();
      const documents = await inOneBatch(hostEvents.find({ _id: { $in: [...ids] } }), ids.length);
      return new Map(documents.map((document) => [document._id, toEvent(document)]));
    },

    /** Deletes a batch of events appended before then, oldest first. Returns how many. Numbers are not reused. Index `age`. */
    async purge(before: Date, limit: number): Promise<number> {
      const old = await hostEvents
        .find({ storedAt: { $lt: before } }, upTo(limit))
        .sort({ storedAt: 1 })
        .project<{ _id: string; seq: number }>({ seq: 1 })
        .toArray();
      if (old.length === 0) return 0;
      const deletedUpTo = Math.max(...old.map(({ seq }) => seq));
      // First, so that concurrent readers get an error instead of incomplete results.
      await retryOnDuplicateKey(() =>
        eventState.updateOne({ _id: 'events' }, { $max: { deletedUpTo } }, { upsert: true }),
      );
      const { deletedCount } = await hostEvents.deleteMany({ seq: { $lte: deletedUpTo } });
      return deletedCount;
    },
  };
}

function newDocument(
  { id, type, at, tenant, facts }: HostEvent,
  seq: number,
  storedAt: Date,
): HostEventDocument {
  const { actorId, followerId, refId, memberId } = facts;
  const named = [actorId, followerId, refId, memberId].filter((who) => who !== undefined);
  const memberIds = [...new Set(named)];
  return {
    ...{ _id: id, seq, type, at },
    ...(tenant === null ? {} : { tenant }),
    ...{ storedAt, facts },
    ...(memberIds.length === 0 ? {} : { memberIds }),
  };
}

function toEvent({ _id: id, seq, type, at, tenant, facts }: HostEventDocument): NumberedHostEvent {
  return { id, seq, type, at, tenant: tenant ?? null, facts };
}
