import type { Collection, Filter } from 'mongodb';
import type { UserId } from '../../domain/action.ts';
import type { ErasureSubject } from '../../domain/erasure.ts';
import type { HostEventFacts } from '../../domain/host-event.ts';
import type { HostEventDocument, OutboxDocument } from '../documents/event-documents.ts';
import type { Collections } from '../database/mongo.ts';

const NAMING = ['actorId', 'followerId', 'refId', 'memberId'] as const;

type WithFacts = Pick<HostEventDocument, '_id' | 'facts' | 'memberIds'>;

/** A member's traces in host events. Works in bounded batches; repeat until nothing is found. */
export function eventTraces({ eventOutbox, hostEvents }: Collections) {
  return {
    /**
     * Replaces actors and followed members by the pseudonym, and removes readers from deliveries. Index `members`.
     * Deliveries name thousands of readers each, so all stored ones are read by `type`, and all unmoved events by `unsent`.
     */
    async anonymiseEvents(subject: ErasureSubject, limit: number): Promise<number> {
      const { memberId } = subject;
      const named = await renamed(hostEvents, { memberIds: memberId }, subject, { index: 'members', limit });
      const waiting = await renamed(
        eventOutbox,
        {
          $or: NAMING.map((field) => ({
            [`facts.${field}`]: memberId,
          })),
        },
        subject,
        { index: 'unsent', limit },
      );
      const pull = { $pull: { 'facts.readers': { memberId } } };
      const delivered = await hostEvents.updateMany(
        { type: 'item.delivered', 'facts.readers.memberId': memberId },
        pull,
      );
      const undelivered = await eventOutbox
        .find({ 'facts.readers.memberId': memberId })
        .hint('unsent')
        .project<Pick<OutboxDocument, '_id'>>({ _id: 1 })
        .limit(limit)
        .batchSize(limit)
        .toArray();
      if (undelivered.length > 0)
        await eventOutbox.updateMany({ _id: { $in: undelivered.map(({ _id }) => _id) } }, pull);
      return named + waiting + delivered.modifiedCount + undelivered.length;
    },
  };
}

async function renamed<D extends HostEventDocument | OutboxDocument>(
  collection: Collection<D>,
  filter: Filter<HostEventDocument> | Filter<OutboxDocument>,
  subject: ErasureSubject,
  { index, limit }: { readonly index: string; readonly limit: number },
): Promise<number> {
  const events = collection as unknown as Collection<WithFacts>;
  const found = await events
    .find(filter as Filter<WithFacts>)
    .hint(index)
    .project<WithFacts>({ facts: 1, memberIds: 1 })
    .limit(limit)
    .batchSize(limit)
    .toArray();
  if (found.length === 0) return 0;
  const put = (id: UserId): UserId => (id === subject.memberId ? subject.pseudonym : id);
  await events.bulkWrite(
    found.map(({ _id, facts, memberIds }) => ({
      updateOne: {
        filter: { _id },
        update: {
          $set: {
            ...idsReplaced(facts, put),
            ...(memberIds === undefined ? {} : { memberIds: memberIds.map(put) }),
          },
        },
      },
    })),
    { ordered: false },
  );
  return found.length;
}

function idsReplaced(facts: HostEventFacts, put: (id: UserId) => UserId): Record<string, UserId> {
  const replaced: Record<string, UserId> = {};
  for (const field of NAMING) {
    const id = facts[field];
    if (id !== undefined) replaced[`facts.${field}`] = put(id);
  }
  return replaced;
}
