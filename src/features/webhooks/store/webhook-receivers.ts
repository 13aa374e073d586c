import { type Claiming, leased } from '../../../storage/database/lease.ts';
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

    /** Releases the lease. */
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

    /** Deletes receivers that no process has had in its settings since. */
    async forget(before: Date): Promise<void> {
      await webhookReceivers.deleteMany({ seenAt: { $lt: before } });
    },
  };
}
