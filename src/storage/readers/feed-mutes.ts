import type { Collection, Document, Filter } from 'mongodb';
import type { UserId } from '../../domain/action.ts';
import {
  MAX_MUTES,
  MAX_PHRASES,
  readerMutes,
  type Mute,
  type MuteTarget,
  type ReaderMutes,
} from '../../domain/mute.ts';
import { clock } from '../../lib/clock.ts';
import type { FeedDocument, MuteDocument } from '../documents/reader-documents.ts';
import { retryOnDuplicateKey } from '../database/errors.ts';
import { NO_STAMPS, type ReaderStamps } from './reader-stamps.ts';
import { literal } from '../stages/literal.ts';

/** Readers of whom a mute has ended by then, unannounced. */
export const hasMuteEnd = (by: Date): Filter<FeedDocument> => ({ muteWakeAt: { $exists: true, $lte: by } });

/**
 * A reader's current mutes. Members muted without an end are stored as plain ids, the original format, so that processes of
 * an older release respect them too.
 */
export function mutesOf(document: Pick<FeedDocument, 'muted' | 'mutes'> | null): ReaderMutes {
  const { muted = [], mutes = [] } = document ?? {};
  const members = muted.map((value): Mute => ({ kind: 'MEMBER', value, text: null, until: null }));
  return readerMutes([...members, ...mutes.map(toMute)], clock.now());
}

function toMute({ kind, value, text, until }: MuteDocument): Mute {
  return { kind, value, text: text ?? null, until: until ?? null };
}

/** Mutes, stored in each reader's document. Each change is one write plus one for the stamp. */
export function feedMutes(collection: Collection<FeedDocument>, stamps: ReaderStamps = NO_STAMPS) {
  return {
    /** Adds a mute or replaces its end. `false`: the reader has too many mutes. */
    async addMute(userId: UserId, mute: Mute, now: Date): Promise<boolean> {
      const stored = await retryOnDuplicateKey(() =>
        collection.findOneAndUpdate({ _id: userId }, [...without(mute, now), added(mute), ...tidied()], {
          upsert: true,
          returnDocument: 'after',
          projection: { muted: 1, mutes: 1 },
        }),
      );
      await stamps.renew([userId]);
      return hasMute(stored, mute);
    },

    async removeMute(userId: UserId, target: MuteTarget, now: Date): Promise<void> {
      await collection.updateOne({ _id: userId }, [...without(target, now), ...tidied()]);
      await stamps.renew([userId]);
    },

    /** Readers with a mute that ended by then. Index `mute_wake`. */
    async dueMuteEnds(
      by: Date,
      limit: number,
    ): Promise<{ readonly userId: UserId; readonly wakeAt: Date }[]> {
      const documents = await collection
        .find(hasMuteEnd(by))
        .sort({ muteWakeAt: 1 })
        .project<{ _id: UserId; muteWakeAt: Date }>({ muteWakeAt: 1 })
        .limit(limit)
        .toArray();
      return documents.map(({ _id, muteWakeAt }) => ({ userId: _id, wakeAt: muteWakeAt }));
    },

    /** Claims the announcement until a time, after which another process takes over. */
    async claimMuteEnd(userId: UserId, wakeAt: Date, until: Date): Promise<boolean> {
      const { modifiedCount } = await collection.updateOne(
        { _id: userId, muteWakeAt: wakeAt },
        { $set: { muteWakeAt: until } },
      );
      return modifiedCount === 1;
    },

    /** Deletes mutes whose end has been announced. */
    async settleMuteEnds(userId: UserId, by: Date): Promise<void> {
      await collection.updateOne({ _id: userId }, [...without(null, by), ...tidied()]);
    },
  };
}

/** Removes ended mutes, and the target that is being replaced or removed. */
function without(target: MuteTarget | null, by: Date): Document[] {
  const isOther =
    target === null
      ? []
      : [
          {
            $or: [
              { $ne: ['$$mute.kind', target.kind] },
              {
                // Phrases of older releases have another value: they are the same if they were typed the same.
                $and: [
                  { $ne: ['$$mute.value', literal(target.value)] },
                  ...(target.text === null ? [] : [{ $ne: ['$$mute.text', literal(target.text)] }]),
                ],
              },
            ],
          },
        ];
  const later = new Date(by.getTime() + 1);
  const isOpen = { $gt: [{ $ifNull: ['$$mute.until', later] }, by] };
  const mutes = { $ifNull: ['$mutes', []] };
  const muted = { $ifNull: ['$muted', []] };
  const others = { $ne: ['$$id', literal(target?.value ?? null)] };
  return [
    {
      $set: {
        mutes: { $filter: { input: mutes, as: 'mute', cond: { $and: [isOpen, ...isOther] } } },
        muted: target?.kind === 'MEMBER' ? { $filter: { input: muted, as: 'id', cond: others } } : muted,
      },
    },
  ];
}

/** Adds the mute if there is room; both lists exist. */
function added(mute: Mute): Document {
  const { kind, value, text, until } = mute;
  const hasRoom = { $lt: [{ $add: [{ $size: '$muted' }, { $size: '$mutes' }] }, MAX_MUTES] };
  if (isPlain(mute))
    return {
      $set: { muted: { $cond: [hasRoom, { $concatArrays: ['$muted', [literal(value)]] }, '$muted'] } },
    };
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

/** Removes empty lists and updates the earliest end. */
function tidied(): Document[] {
  const unlessEmpty = (list: string): Document => ({ $cond: [{ $eq: [list, []] }, '$$REMOVE', list] });
  return [
    { $set: { muteWakeAt: { $ifNull: [{ $min: '$mutes.until' }, '$$REMOVE'] } } },
    { $set: { muted: unlessEmpty('$muted'), mutes: unlessEmpty('$mutes') } },
  ];
}

/** Stored as a plain id. */
function isPlain({ kind, until }: Mute): boolean {
  return kind === 'MEMBER' && until === null;
}

function hasMute(document: Pick<FeedDocument, 'muted' | 'mutes'> | null, mute: Mute): boolean {
  if (isPlain(mute)) return document?.muted?.includes(mute.value) === true;
  return document?.mutes?.some(({ kind, value }) => kind === mute.kind && value === mute.value) === true;
}
