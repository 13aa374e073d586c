import { upTo } from '../../../src/storage/database/batches.ts';
import type { ActionId, UserId } from '../../../src/domain/action.ts';
import type { HostEventType, NumberedHostEvent } from '../../../src/domain/host-event.ts';
import { fieldBeside, type Beside } from '../../../src/domain/stored-id.ts';
import { MAX_LISTED_RECEIVERS, type WebhookDelivery, type WebhookState } from './webhook.ts';
import { retryOnDuplicateKey } from '../../../src/storage/database/errors.ts';
import type { Collections } from '../../../src/storage/database/mongo.ts';
import { eventIdOf } from '../../../src/features/events/store/event-facts.ts';
import { literal } from '../../../src/storage/stages/revision.ts';
import {
  type Declared,
  index,
  indexWithin,
  NAMES_NOBODY,
  NOT_OF_ACTIONS,
} from '../../../src/storage/documents/declaration.ts';
import { type Claiming, leased } from '../../../src/storage/database/lease.ts';
import type { LeaseDocument } from '../../../src/storage/documents/lease-document.ts';
import { beyond, type Stretch, turned } from '../../../src/storage/documents/keyset.ts';

export const WEBHOOK_RECEIVERS: Declared<'webhookReceivers'> = {
  name: 'webhookReceivers',
  holds: 'the progress of a receiver of webhooks',
  ids: {},
  indexes: [],
  shard: { because: 'one document per configured receiver' },
  erase: NAMES_NOBODY,
  export: NAMES_NOBODY,
  action: NOT_OF_ACTIONS,
};

/** One document per receiver, including the lease of the process that sends to it. Unique key: `_id`, its URL. */
export function webhookReceiversRepository({ webhookReceivers }: Collections) {
  const leases = leased(webhookReceivers, 'lease');

  return {
    /**
     * Takes or extends the lease. Returns the number of the last event the receiver is done with; `null`: another process
     * has the lease. One round trip.
     * @param start where a new receiver begins; called only for a new one.
     */
    async lease(url: string, claiming: Claiming, start: () => Promise<number>): Promise<number | null> {
      const set = { seenAt: claiming.now };
      const receiver = await leases.take(url, claiming, { set });
      if (receiver !== null) return receiver.seq;
      const known = await webhookReceivers.findOne({ _id: url }, { projection: { _id: 1 } });
      if (known !== null) return null;
      const made = await leases.take(url, claiming, { set, initial: { seq: await start() } });
      return made?.seq ?? null;
    },

    /** `false`: another process has taken the lease. */
    extend: (url: string, token: string, until: Date) => leases.renew({ id: url, token }, until),

    /** Records the receiver's progress, which never goes back. `false`: another process has taken the lease. */
    async advance(url: string, token: string, seq: number): Promise<boolean> {
      const held = leases.held({ id: url, token });
      const { matchedCount } = await webhookReceivers.updateOne(held, { $max: { seq } });
      return matchedCount === 1;
    },

    release: (url: string, token: string) => leases.leave({ id: url, token }),

    /** When a process last had the receiver in its settings; `null`: not for long. */
    async seenAt(url: string): Promise<Date | null> {
      return (await webhookReceivers.findOne({ _id: url }))?.seenAt ?? null;
    },

    /** Receivers that a process has had in its settings since. At most a few. */
    async seenSince(time: Date): Promise<string[]> {
      const found = await webhookReceivers
        .find({ seenAt: { $gte: time } }, { projection: { _id: 1 } })
        .toArray();
      return found.map(({ _id }) => _id);
    },

    /** All that a process has had in its settings lately, by URL. */
    async all(now: Date): Promise<{ url: string; seq: number; seenAt: Date; isSending: boolean }[]> {
      const found = await webhookReceivers.find().sort({ _id: 1 }).limit(MAX_LISTED_RECEIVERS).toArray();
      return found.map(({ _id: url, seq, seenAt, lease }) => ({
        ...{ url, seq, seenAt, isSending: lease !== undefined && lease.due > now },
      }));
    },

    /** Deletes receivers that no process has had in its settings since. */
    async forget(before: Date): Promise<void> {
      await webhookReceivers.deleteMany({ seenAt: { $lt: before } });
    },
  };
}

export const WEBHOOK_DELIVERIES: Declared<'webhookDeliveries'> = {
  name: 'webhookDeliveries',
  holds: 'an event that a receiver has not accepted yet',
  ids: {},
  indexes: [
    index(
      'due',
      { url: 1, state: 1, nextAttemptAt: 1, seq: 1 },
      'webhooks: what a receiver is to be sent again',
    ),
    index(
      'action',
      { url: 1, actionId: 1, state: 1 },
      'webhooks: whether an earlier event of an action waits',
      { partialFilterExpression: { actionId: { $exists: true } } },
    ),
    index(
      'newest',
      { seq: -1, _id: -1 },
      'admin: deliveries, the newest event first; what belongs to events that are not kept any longer',
    ),
    index(
      'newest_by_state',
      { state: 1, seq: -1, _id: -1 },
      'admin: deliveries of a state, the newest event first',
    ),
    indexWithin('newest', { seq: -1, _id: -1 }, 'admin: deliveries, the newest event first'),
  ],
  shard: { because: 'kept as long as events' },
  erase: NAMES_NOBODY,
  export: NAMES_NOBODY,
  action: NOT_OF_ACTIONS,
};

export interface WebhookPlace {
  readonly seq: number;
  readonly id: string;
}

export interface ParkedEvent {
  readonly event: NumberedHostEvent;
  readonly attempts: number;
  readonly error: string | null;
  readonly nextAttemptAt: Date;
}

/**
 * Events that receivers did not accept at the first attempt, until they are accepted or given up. Unique key: `_id`. Written
 * by the one process with the receiver's lease, and by admins who request a retry.
 */
export function webhookDeliveriesRepository({ webhookDeliveries }: Collections) {
  async function list(
    filter: object,
    sort: Record<string, 1 | -1>,
    limit: number,
  ): Promise<WebhookDelivery[]> {
    const documents = await webhookDeliveries.find(filter, upTo(limit)).sort(sort).toArray();
    return documents.map(toDelivery);
  }

  /** Events of an action are sent in order, so later ones get the due time of the earliest waiting one. */
  async function alignAction(url: string, actionId: ActionId | null, nextAttemptAt: Date): Promise<void> {
    if (actionId === null) return;
    await webhookDeliveries.updateMany({ url, actionId, state: 'RETRYING' }, { $set: { nextAttemptAt } });
  }

  return {
    /** Stores events for retries; existing ones stay unchanged. One write. */
    async park(url: string, parked: readonly ParkedEvent[], now: Date): Promise<void> {
      if (parked.length === 0) return;
      await retryOnDuplicateKey(() =>
        webhookDeliveries.bulkWrite(
          parked.map((one) => {
            const { _id, ...document } = newDocument(url, one, now);
            return { updateOne: { filter: { _id }, update: { $setOnInsert: document }, upsert: true } };
          }),
          { ordered: false },
        ),
      );
    },

    /** Deliveries due by then; those of one action in event order. Index `due`. */
    due: (url: string, now: Date, limit: number) =>
      list({ url, state: 'RETRYING', nextAttemptAt: { $lte: now } }, { nextAttemptAt: 1, seq: 1 }, limit),

    /** The actions among these with waiting deliveries, with the time of the next attempt. Index `action`. */
    async waitingActions(url: string, actionIds: readonly ActionId[]): Promise<Map<ActionId, Date>> {
      if (actionIds.length === 0) return new Map();
      const documents = await webhookDeliveries
        .find({ url, state: 'RETRYING', actionId: { $exists: true, $in: [...actionIds] } })
        .project<{ actionId?: string; nextAttemptAt?: Date }>({
          actionId: 1,
          nextAttemptAt: 1,
        })
        .toArray();
      return new Map(
        documents.flatMap(({ actionId, nextAttemptAt }) =>
          actionId === undefined || nextAttemptAt === undefined ? [] : [[actionId, nextAttemptAt] as const],
        ),
      );
    },

    /** Number of deliveries to retry, counted up to a limit. Index `due`. */
    countRetrying: (url: string, limit: number) =>
      webhookDeliveries.countDocuments({ url, state: 'RETRYING' }, { limit }),

    /** The event was accepted or deleted. */
    async drop(id: string): Promise<void> {
      await webhookDeliveries.deleteOne({ _id: id });
    },

    /**
     * Records a failed attempt. Deliveries waiting behind it are postponed, too. A retry that was requested during the attempt
     * stays due.
     */
    async postpone(
      { id, url, actionId, triedSince }: WebhookDelivery,
      error: string,
      nextAttemptAt: Date,
    ): Promise<void> {
      const isAsBefore = { $eq: ['$triedSince', triedSince] };
      const document = await webhookDeliveries.findOneAndUpdate(
        { _id: id },
        [
          {
            $set: {
              error: literal(error),
              attempts: { $add: ['$attempts', 1] },
              nextAttemptAt: { $cond: [isAsBefore, nextAttemptAt, '$triedSince'] },
            },
          },
        ],
        { returnDocument: 'after' },
      );
      await alignAction(url, actionId, document?.nextAttemptAt ?? nextAttemptAt);
    },

    /** Records the final failure, unless a retry was requested during it. Deliveries waiting behind it become due. */
    async giveUp({ id, triedSince }: WebhookDelivery, error: string, attempts: number): Promise<void> {
      await webhookDeliveries.updateOne(
        { _id: id, triedSince },
        { $set: { error, state: 'FAILED', attempts }, $unset: { nextAttemptAt: 1 } },
      );
    },

    /** The same for everything that waits for other receivers than these. Index `due`. */
    async giveUpOthers(urls: readonly string[], error: string): Promise<void> {
      await webhookDeliveries.updateMany(
        { url: { $nin: [...urls] }, state: 'RETRYING' },
        { $set: { error, state: 'FAILED' }, $unset: { nextAttemptAt: 1 } },
      );
    },

    /** Makes waiting deliveries, all of one action, due at this time, and those behind them. */
    async putOff(deliveries: readonly WebhookDelivery[], nextAttemptAt: Date): Promise<void> {
      const [first] = deliveries;
      if (first === undefined) return;
      await webhookDeliveries.updateOne({ _id: first.id, state: 'RETRYING' }, { $set: { nextAttemptAt } });
      await alignAction(first.url, first.actionId, nextAttemptAt);
    },

    /** The delivery of an event, wherever it was stored. Unique key: `_id`. */
    async of(url: string, eventId: string): Promise<WebhookDelivery | null> {
      const document = await webhookDeliveries.findOne({ _id: eventIdOf('webhook', url, eventId) });
      return document === null ? null : toDelivery(document);
    },

    /** The receiver is back: everything waiting becomes due. Index `due`. */
    async hasten(url: string, now: Date): Promise<void> {
      await webhookDeliveries.updateMany(
        { url, state: 'RETRYING', nextAttemptAt: { $gt: now } },
        { $set: { nextAttemptAt: now } },
      );
    },

    async find(beside: UserId, id: string): Promise<WebhookDelivery | null> {
      const document = await webhookDeliveries.findOne({ _id: id, ...fieldBeside(beside) });
      return document === null ? null : toDelivery(document);
    },

    /** Makes a delivery, and those waiting behind it, due at once. `null`: there is no such delivery. */
    async retry(beside: UserId, id: string, now: Date): Promise<WebhookDelivery | null> {
      const document = await webhookDeliveries.findOneAndUpdate(
        { _id: id, ...fieldBeside(beside) },
        { $set: { state: 'RETRYING', nextAttemptAt: now, triedSince: now } },
        { returnDocument: 'after' },
      );
      if (document === null) return null;
      const delivery = toDelivery(document);
      await alignAction(delivery.url, delivery.actionId, now);
      return delivery;
    },

    /** Newest first. Indexes `newest`, `newest_by_state`. */
    page(beside: UserId, state: WebhookState | null, { from, isUp, limit }: Stretch<WebhookPlace>) {
      const order = turned({ seq: -1, _id: -1 }, isUp);
      const place = from && { seq: from.seq, _id: from.id };
      return list(
        { ...fieldBeside(beside), ...(state === null ? {} : { state }), ...beyond(order, place) },
        order,
        limit,
      );
    },

    /** Numbers of failed deliveries by receiver and reason, the most first, at most a hundred. Index `newest_by_state`. */
    async failed(): Promise<{ readonly url: string; readonly error: string; readonly count: number }[]> {
      const found = await webhookDeliveries
        .aggregate<{
          readonly _id: { readonly url: string; readonly error?: string };
          readonly count: number;
        }>([
          { $match: { state: 'FAILED' } },
          { $group: { _id: { url: '$url', error: '$error' }, count: { $sum: 1 } } },
          { $sort: { count: -1, _id: 1 } },
          { $limit: 100 },
        ])
        .toArray();
      return found.map(({ _id: { url, error = '' }, count }) => ({ url, error, count }));
    },

    /** Deletes deliveries of deleted events. Index `newest`. */
    async purge(upTo: number): Promise<void> {
      await webhookDeliveries.deleteMany({ seq: { $lte: upTo } });
    },
  };
}

function newDocument(
  url: string,
  { event, attempts, error, nextAttemptAt }: ParkedEvent,
  now: Date,
): WebhookDeliveryDocument {
  const { id: eventId, seq, type, tenant, facts } = event;
  return {
    _id: eventIdOf('webhook', url, eventId),
    ...(tenant === null ? {} : { tenant }),
    ...{ url, eventId, seq, type, state: 'RETRYING', attempts, nextAttemptAt, triedSince: now },
    ...(facts.actionId === undefined ? {} : { actionId: facts.actionId }),
    ...(error === null ? {} : { error }),
  };
}

function toDelivery(document: WebhookDeliveryDocument): WebhookDelivery {
  const { _id: id, actionId = null, error = null, nextAttemptAt = null, ...given } = document;
  const { tenant: _tenant, ...rest } = given;
  return { ...rest, id, actionId, error, nextAttemptAt };
}

declare module '../../../src/storage/documents/declaration.ts' {
  interface Documents {
    readonly webhookDeliveries: WebhookDeliveryDocument;
    readonly webhookReceivers: WebhookReceiverDocument;
  }
}

/** Progress of a receiver in the log of events. `_id` is its URL. */
export interface WebhookReceiverDocument {
  _id: string;
  /** All events up to and including this number were accepted or have a delivery document. */
  seq: number;
  /** Of the process that sends to it. */
  lease?: LeaseDocument;
  /** When a process last had it in its settings. */
  seenAt: Date;
}

/** An event that a receiver has not accepted yet. The payload is built from the event, so nobody is named here. */
export interface WebhookDeliveryDocument extends Beside {
  /** Made of receiver and event. */
  _id: string;
  url: string;
  eventId: string;
  seq: number;
  type: HostEventType;
  /** Absent if the event is not about an action. */
  actionId?: string;
  state: WebhookState;
  attempts: number;
  error?: string;
  /** Equal for all deliveries about one action. Absent once FAILED. */
  nextAttemptAt?: Date;
  triedSince: Date;
}
