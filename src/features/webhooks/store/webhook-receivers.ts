import { isDuplicateKey } from '../../../storage/database/errors.ts';
import type { Collections } from '../../../storage/database/mongo.ts';
import { type Declared, NAMES_NOBODY, NOT_OF_ACTIONS } from '../../../storage/documents/declaration.ts';

export const WEBHOOK_RECEIVERS: Declared<'webhookReceivers'> = {
  name: 'webhookReceivers',
  holds: 'the progress of a receiver of webhooks',
  ids: {},
  indexes: [],
  shard: { because: 'one document per configured receiver' },
  tenant: { because: 'as many as an admin of the installation has set up' },
  erase: NAMES_NOBODY,
  export: NAMES_NOBODY,
  action: NOT_OF_ACTIONS,
};

/** One document per receiver, including the lease of the process that sends to it. Unique key: `_id`, its URL. */
export function webhookReceiversRepository({ webhookReceivers }: Collections) {
  return {
    /**
     * Takes or extends the lease. Returns the number of the last event the receiver is done with; `null`: another process
     * has the lease. One round trip.
     * @param start where a new receiver begins; called only for a new one.
     */
    async lease(
      url: string,
      lease: { readonly worker: string; readonly now: Date; readonly leaseMs: number },
      start: () => Promise<number>,
    ): Promise<number | null> {
      const { worker, now, leaseMs } = lease;
      const held = { worker, leaseUntil: new Date(now.getTime() + leaseMs), seenAt: now };
      const isFree = [{ worker }, { leaseUntil: { $exists: false } }, { leaseUntil: { $lte: now } }];
      const receiver = await webhookReceivers.findOneAndUpdate(
        { _id: url, $or: isFree },
        { $set: held },
        { returnDocument: 'after' },
      );
      if (receiver !== null) return receiver.seq;
      const known = await webhookReceivers.findOne({ _id: url }, { projection: { _id: 1 } });
      if (known !== null) return null;
      try {
        const seq = await start();
        await webhookReceivers.insertOne({ _id: url, seq, ...held });
        return seq;
      } catch (error) {
        // Another process was first.
        if (isDuplicateKey(error)) return null;
        throw error;
      }
    },

    /** `false`: another process has taken the lease. */
    async extend(url: string, worker: string, leaseUntil: Date): Promise<boolean> {
      const result = await webhookReceivers.updateOne({ _id: url, worker }, { $set: { leaseUntil } });
      return result.matchedCount === 1;
    },

    /** Records the receiver's progress, which never goes back. `false`: another process has taken the lease. */
    async advance(url: string, worker: string, seq: number): Promise<boolean> {
      const result = await webhookReceivers.updateOne({ _id: url, worker }, { $max: { seq } });
      return result.matchedCount === 1;
    },

    /** Releases the lease. */
    async release(url: string, worker: string): Promise<void> {
      await webhookReceivers.updateOne({ _id: url, worker }, { $unset: { worker: 1, leaseUntil: 1 } });
    },

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

    /** Deletes receivers that no process has had in its settings since. */
    async forget(before: Date): Promise<void> {
      await webhookReceivers.deleteMany({ seenAt: { $lt: before } });
    },
  };
}
