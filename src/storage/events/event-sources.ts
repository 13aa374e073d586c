import type { Collection, Document, Filter, ObjectId } from 'mongodb';
import { tenantOfFacts, type HostEvent } from '../../domain/host-event.ts';
import type { UnsentEvents } from '../documents/event-documents.ts';
import type { Collections } from '../database/mongo.ts';
import {
  eventsOfAction,
  eventsOfErasure,
  eventsOfFollow,
  eventsOfInteraction,
  FACTS_OF,
} from './unsent-events.ts';
import { literal } from '../stages/literal.ts';

/** Events to move, and how to remove them from their sources afterwards. */
export interface EventBatch {
  /** In chronological order. */
  readonly events: readonly HostEvent[];
  /** Whether there may be more. */
  readonly hasMore: boolean;
  taken(): Promise<void>;
}

interface SourceBatch {
  readonly events: readonly HostEvent[];
  /** The source may have unread events after this time; `null`: it was read completely. */
  readonly upTo: Date | null;
  take(moved: ReadonlySet<string>): Promise<void>;
}

type Carrier = UnsentEvents & { _id: ObjectId | string };

/** Sources of events until they are moved: the documents they are about, and the outbox. */
export function eventSourcesRepository(
  collections: Pick<Collections, 'actions' | 'interactions' | 'follows' | 'erasures' | 'eventOutbox'>,
) {
  const { actions, interactions, follows, erasures, eventOutbox } = collections;

  return {
    /**
     * Events up to a time, earliest first, from at most `limit` documents per kind. Anything written after the read began is
     * later than `now`, and so are its consequences: no event is read before its cause. One round trip. Indexes `unsent`.
     */
    async read(now: Date, limit: number): Promise<EventBatch> {
      const batches = await Promise.all([
        carried(actions, { eventsOf: eventsOfAction, facts: FACTS_OF.actions }, now, limit),
        carried(interactions, { eventsOf: eventsOfInteraction, facts: FACTS_OF.interactions }, now, limit),
        carriedByFollows(),
        carried(erasures, { eventsOf: eventsOfErasure, facts: FACTS_OF.erasures }, now, limit),
        fromOutbox(),
      ]);
      const bounds = batches.flatMap(({ upTo }) => upTo ?? []);
      const horizon = bounds.reduce((low, time) => (time < low ? time : low), now);
      const events = inOrder(batches.flatMap((batch) => batch.events).filter(({ at }) => at <= horizon));
      return {
        events,
        hasMore: bounds.length > 0,
        async taken() {
          const moved = new Set(events.map(({ id }) => id));
          await Promise.all(batches.map((batch) => batch.take(moved)));
        },
      };

      async function carriedByFollows(): Promise<SourceBatch> {
        const batch = await carried(
          follows,
          { eventsOf: eventsOfFollow, facts: FACTS_OF.follows },
          now,
          limit,
        );
        return {
          ...batch,
          async take(moved) {
            await batch.take(moved);
            // These documents existed only for their events.
            if (batch.ids.length > 0)
              await follows.deleteMany({
                _id: { $in: batch.ids },
                ...{ active: false, spans: { $size: 0 } },
                ...{ settling: { $exists: false }, unsentAt: { $exists: false } },
              });
          },
        };
      }

      async function fromOutbox(): Promise<SourceBatch> {
        const documents = await eventOutbox
          .find({ unsentAt: { $lte: now } })
          .sort({ unsentAt: 1 })
          .limit(limit)
          .batchSize(limit)
          .toArray();
        return {
          events: documents.map(({ _id: id, type, at, facts }) => ({
            ...{ id, type, at, facts },
            tenant: tenantOfFacts(facts),
          })),
          upTo: documents.length < limit ? null : (documents.at(-1)?.unsentAt ?? null),
          async take(moved) {
            const ids = documents.map(({ _id }) => _id).filter((id) => moved.has(id));
            if (ids.length > 0) await eventOutbox.deleteMany({ _id: { $in: ids } });
          },
        };
      }
    },
  };
}

export type EventSourcesRepository = ReturnType<typeof eventSourcesRepository>;

async function carried<D extends Carrier>(
  collection: Collection<D>,
  { eventsOf, facts }: { readonly eventsOf: (document: D) => HostEvent[]; readonly facts: readonly string[] },
  now: Date,
  limit: number,
): Promise<SourceBatch & { readonly ids: D['_id'][] }> {
  const documents = (await collection
    // `$exists` states the partial index's condition, since not every planner infers it from `$lte`.
    .find({ unsentAt: { $exists: true, $lte: now } } as Filter<D>)
    .sort({ unsentAt: 1 })
    .project(Object.fromEntries(['unsent', 'unsentAt', ...facts].map((field) => [field, 1])))
    .limit(limit)
    .batchSize(limit)
    .toArray()) as D[];
  return {
    ids: documents.map(({ _id }) => _id),
    events: documents.flatMap(eventsOf),
    upTo: documents.length < limit ? null : (documents.at(-1)?.unsentAt ?? null),
    async take(moved) {
      const tokens = documents.flatMap((document) => {
        const ids = eventsOf(document).map(({ id }) => id);
        return (document.unsent ?? []).flatMap(({ token }, index) =>
          moved.has(ids[index] ?? '') ? [token] : [],
        );
      });
      if (tokens.length === 0) return;
      const filter = { _id: { $in: documents.map(({ _id }) => _id) } } as Filter<D>;
      await collection.updateMany(filter, without(tokens));
    },
  };
}

/** An update pipeline that removes entries. */
function without(tokens: readonly ObjectId[]): Document[] {
  const different = [...new Map(tokens.map((token) => [token.toHexString(), token])).values()];
  const left = {
    $filter: {
      input: { $ifNull: ['$unsent', []] },
      as: 'entry',
      cond: { $not: [{ $in: ['$$entry.token', literal(different)] }] },
    },
  };
  const unlessEmpty = (value: unknown): Document => ({
    $cond: [{ $eq: [{ $size: '$unsent' }, 0] }, '$$REMOVE', value],
  });
  return [
    { $set: { unsent: left } },
    { $set: { unsent: unlessEmpty('$unsent'), unsentAt: unlessEmpty({ $min: '$unsent.at' }) } },
  ];
}

/** By time, but events of an action come after its publication, even if clocks differ slightly. */
function inOrder(events: readonly HostEvent[]): HostEvent[] {
  const published = new Map(
    events.flatMap(({ type, at, facts: { actionId } }) =>
      type === 'action.published' && actionId !== undefined ? [[actionId, at.getTime()] as const] : [],
    ),
  );
  const timeOf = ({ at, facts: { actionId = '' } }: HostEvent): number =>
    Math.max(at.getTime(), published.get(actionId) ?? 0);
  const rankOf = ({ type }: HostEvent): number => (type === 'action.published' ? 0 : 1);
  return [...events].sort((a, b) => timeOf(a) - timeOf(b) || rankOf(a) - rankOf(b));
}
