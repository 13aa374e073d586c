import type { Collection, Document, Filter } from 'mongodb';
import type { UserId } from '../../domain/action.ts';
import { MAX_MUTES, MAX_PHRASES, type Mute, type MuteTarget } from '../../domain/mute.ts';
import type { FeedDocument, MuteDocument } from '../../storage/documents/reader-documents.ts';
import { retryOnDuplicateKey } from '../../storage/database/errors.ts';
import { type Claiming, leased, leaseDue } from '../../storage/database/lease.ts';
import { NO_STAMPS, type ReaderStamps } from '../../storage/stamps/reader-stamps.ts';
import { literal } from '../../storage/stages/revision.ts';

declare module '../../storage/repositories.ts' {
  interface Repositories {
    readonly feedMutes: ReturnType<typeof feedMutes>;
  }
}

/** Readers of whom a mute has ended by then, unannounced. */
export const hasMuteEnd = (by: Date): Filter<FeedDocument> => leaseDue('muteEnd', by);

/** Mutes, stored in each reader's document. Each change is one write plus one for the stamp. */
export function feedMutes(collection: Collection<FeedDocument>, stamps: ReaderStamps = NO_STAMPS) {
  return {
    /** Adds a mute or replaces its end. `false`: the reader has too many mutes. */
    async addMute(userId: UserId, mute: Mute, now: Date): Promise<boolean> {
      const stored = await retryOnDuplicateKey(() =>
        collection.findOneAndUpdate({ _id: userId }, [without(mute, now), added(mute), TIDIED], {
          upsert: true,
          returnDocument: 'after',
          projection: { mutes: 1 },
        }),
      );
      await stamps.renew([userId]);
      return hasMute(stored, mute);
    },

    async removeMute(userId: UserId, target: MuteTarget, now: Date): Promise<void> {
      await collection.updateOne({ _id: userId }, [without(target, now), TIDIED]);
      await stamps.renew([userId]);
    },

    /** Claims readers of whom a mute ended by then. Index `mute_wake`. */
    async claimMuteEnds(claiming: Claiming, limit: number): Promise<UserId[]> {
      return (await leased(collection, 'muteEnd').claimSome(claiming, limit)).map(({ _id }) => _id);
    },

    /** Deletes mutes whose end has been announced. */
    async settleMuteEnds(userIds: readonly UserId[], by: Date): Promise<void> {
      await collection.updateMany({ _id: { $in: [...userIds] } }, [without(null, by), TIDIED]);
    },
  };
}

/** Removes ended mutes, and the target that is being replaced or removed. */
function without(target: MuteTarget | null, by: Date): Document {
  const later = new Date(by.getTime() + 1);
  const isOpen = { $gt: [{ $ifNull: ['$$mute.until', later] }, by] };
  const isOther =
    target === null
      ? []
      : [{ $or: [{ $ne: ['$$mute.kind', target.kind] }, { $ne: ['$$mute.value', literal(target.value)] }] }];
  const input = { $ifNull: ['$mutes', []] };
  return { $set: { mutes: { $filter: { input, as: 'mute', cond: { $and: [isOpen, ...isOther] } } } } };
}

/** Adds the mute if there is room; the list exists. */
function added({ kind, value, text, until }: Mute): Document {
  const hasRoom = { $lt: [{ $size: '$mutes' }, MAX_MUTES] };
  const isPhrase = { $eq: ['$$mute.kind', 'PHRASE'] };
  const phrases = { $size: { $filter: { input: '$mutes', as: 'mute', cond: isPhrase } } };
  const fits = kind === 'PHRASE' ? { $and: [hasRoom, { $lt: [phrases, MAX_PHRASES] }] } : hasRoom;
  const document: MuteDocument = {
    ...{ kind, value },
    ...(text === null ? {} : { text }),
    ...(until === null ? {} : { until }),
  };
  return {
    $set: { mutes: { $cond: [fits, { $concatArrays: ['$mutes', [literal(document)]] }, '$mutes'] } },
  };
}

/** Removes an empty list and updates the earliest end. */
const TIDIED: Document = {
  $set: {
    mutes: { $cond: [{ $eq: ['$mutes', []] }, '$$REMOVE', '$mutes'] },
    // Voids a claim: what it is for may have changed.
    muteEnd: {
      $cond: [{ $gt: [{ $min: '$mutes.until' }, null] }, { due: { $min: '$mutes.until' } }, '$$REMOVE'],
    },
  },
};

function hasMute(document: FeedDocument | null, { kind, value }: Mute): boolean {
  return document?.mutes?.some((one) => one.kind === kind && one.value === value) === true;
}
