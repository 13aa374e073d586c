import type { Collection, Document, Filter, ObjectId } from 'mongodb';
import { hostEventOf, type HostEvent } from '../../../../src/domain/host-event.ts';
import type {
  ActionDocument,
  ErasureDocument,
  InteractionDocument,
} from '../../../../src/storage/documents/documents.ts';
import type { OutboxDocument, UnsentEvents } from '../../../../src/storage/documents/event-documents.ts';
import type { FollowDocument } from '../../../../src/storage/documents/reader-documents.ts';
import type { ReportDocument } from '../../../../src/features/reports/store.ts';
import type { Collections } from '../../../../src/storage/database/mongo.ts';
import {
  eventsOfAction,
  eventsOfErasure,
  eventsOfFollow,
  eventsOfInteraction,
  eventsOfReport,
  FACTS_OF,
} from '../../../../src/features/events/store/event-facts.ts';
import { literal } from '../../../../src/storage/stages/revision.ts';

/** Events to move, and how to remove them from their sources afterwards. */
export interface EventBatch {
  /** In chronological order. */
  readonly events: readonly HostEvent[];
  /** Whether there may be more. */
  readonly hasMore: boolean;
  taken(): Promise<void>;
}

/** A batch of one kind of source. */
interface SourceBatch {
  readonly events: readonly HostEvent[];
  /** The source may have unread events after this time; `null`: it was read completely. */
  readonly upTo: Date | null;
  take(moved: ReadonlySet<string>): Promise<void>;
}

type Carrier = UnsentEvents & { _id: ObjectId | string };
type Sources = Collections;

/** Sources of events until they are moved: the documents they are about, and the outbox. */
export function eventSourcesRepository(collections: Sources) {
  const { actions, interactions, follows, reports, erasures, eventOutbox } = collections;

  return {
    /**
     * Events up to a time, earliest first, from at most `limit` documents per kind. Anything written after the read began is
     * later than `now`, and so are its consequences: no event is read before its cause. One command. Indexes `unsent`.
     */
    async read(now: Date, limit: number): Promise<EventBatch> {
      const found = await unsent(collections, now, limit);
      const carriedByFollows = carried(follows, found.follows, eventsOfFollow, limit);
      const batches: readonly SourceBatch[] = [
        carried(actions, found.actions, eventsOfAction, limit),
        carried(interactions, found.interactions, eventsOfInteraction, limit),
        {
          ...carriedByFollows,
          async take(moved) {
            await carriedByFollows.take(moved);
            // These documents existed only for their events.
            if (found.follows.length > 0)
              await follows.deleteMany({
                _id: { $in: found.follows.map(({ _id }) => _id) },
                ...{ active: false, spans: { $size: 0 } },
                ...{ settling: { $exists: false }, unsentAt: { $exists: false } },
              });
          },
        },
        carried(reports, found.reports, eventsOfReport, limit),
        carried(erasures, found.erasures, eventsOfErasure, limit),
        fromOutbox(eventOutbox, found.eventOutbox, limit),
      ];
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
    },
  };
}

interface Found {
  readonly actions: readonly ActionDocument[];
  readonly interactions: readonly InteractionDocument[];
  readonly follows: readonly FollowDocument[];
  readonly reports: readonly ReportDocument[];
  readonly erasures: readonly ErasureDocument[];
  readonly eventOutbox: readonly OutboxDocument[];
}

const KINDS = ['actions', 'interactions', 'follows', 'reports', 'erasures', 'eventOutbox'] as const;

/** Documents with events that are due, of each kind the earliest; only with the fields that events need. */
async function unsent(collections: Sources, now: Date, limit: number): Promise<Found> {
  const part = (kind: (typeof KINDS)[number]): Document[] => [
    // `$exists` states the condition of partial indexes, since not every planner infers it from `$lte`.
    { $match: { unsentAt: { ...(kind === 'eventOutbox' ? {} : { $exists: true }), $lte: now } } },
    { $sort: { unsentAt: 1 } },
    { $limit: limit },
    kind === 'eventOutbox'
      ? { $addFields: { source: kind } }
      : { $project: { ...FIELDS_OF[kind], source: { $literal: kind } } },
  ];
  const [first, ...others] = KINDS;
  const pipeline = [
    ...part(first),
    ...others.map((kind) => ({
      $unionWith: { coll: collections[kind].collectionName, pipeline: part(kind) },
    })),
  ];
  const documents = await collections[first]
    .aggregate<Document & { readonly source: string }>(pipeline, { batchSize: KINDS.length * limit + 1 })
    .toArray();
  const of = <D>(kind: keyof Found): D[] => documents.filter(({ source }) => source === kind) as D[];
  return {
    actions: of('actions'),
    interactions: of('interactions'),
    follows: of('follows'),
    reports: of('reports'),
    erasures: of('erasures'),
    eventOutbox: of('eventOutbox'),
  };
}

/** The whole documents are many times as large. */
const FIELDS_OF = Object.fromEntries(
  Object.entries(FACTS_OF).map(([kind, facts]) => [
    kind,
    Object.fromEntries(['unsent', 'unsentAt', ...facts].map((field) => [field, 1])),
  ]),
);

function carried<D extends Carrier>(
  collection: Collection<D>,
  documents: readonly D[],
  eventsOf: (document: D) => HostEvent[],
  limit: number,
): SourceBatch {
  return {
    events: documents.flatMap(eventsOf),
    upTo: boundOf(documents, limit),
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

function fromOutbox(
  outbox: Collection<OutboxDocument>,
  documents: readonly OutboxDocument[],
  limit: number,
): SourceBatch {
  return {
    events: documents.map(({ _id: id, type, at, facts }) => hostEventOf({ id, type, at, facts })),
    upTo: boundOf(documents, limit),
    async take(moved) {
      const ids = documents.map(({ _id }) => _id).filter((id) => moved.has(id));
      if (ids.length > 0) await outbox.deleteMany({ _id: { $in: ids } });
    },
  };
}

/** With fewer documents than asked for, there are no others. */
function boundOf(documents: readonly { readonly unsentAt?: Date }[], limit: number): Date | null {
  if (documents.length < limit) return null;
  // A union keeps no order.
  return documents.reduce<Date | null>(
    (last, { unsentAt = null }) =>
      last === null || (unsentAt !== null && unsentAt > last) ? unsentAt : last,
    null,
  );
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
