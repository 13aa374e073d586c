import { ObjectId, type Collection, type Document } from 'mongodb';
import type { UserId } from '../../../../src/domain/action.ts';
import { duplicatePositions } from '../../../../src/storage/database/errors.ts';
import type { FeedTopDocument } from './documents.ts';
import {
  comesBefore,
  toEntryDocument,
  type ReaderEntry,
} from '../../../../src/feeds/models/shared/entries.ts';

/**
 * Adds one entry to the documents of many readers: one query for readers that have a document, one statement for them, and
 * one that creates documents for the others. Returns readers who seem to have the entry already.
 */
export async function putAlike(
  collection: Collection<FeedTopDocument>,
  cap: number,
  { actionId, group }: { readonly actionId: ObjectId; readonly group: readonly ReaderEntry[] },
): Promise<ReaderEntry[]> {
  const [first] = group;
  if (first === undefined) return [];
  const found = await collection
    .aggregate<{ readonly _id: UserId; readonly holds: boolean }>([
      { $match: { _id: { $in: group.map(({ userId }) => userId) } } },
      { $project: { holds: { $in: [actionId, '$entries.actionId'] } } },
    ])
    .toArray();
  const holds = new Map(found.map((document) => [document._id, document.holds]));
  const waiting = found.flatMap(({ _id, holds: isHeld }) => (isHeld ? [] : [_id]));
  const without = group.filter(({ userId }) => !holds.has(userId));
  if (waiting.length > 0) {
    const stages = putStages(actionId, first, cap);
    const absent = { $nor: [{ 'entries.actionId': actionId }] };
    const { matchedCount } = await collection.updateMany({ _id: { $in: waiting }, ...absent }, stages);
    // Another writer has just added it, perhaps with a lower relevancy: raise it. Both report it as added.
    if (matchedCount < waiting.length) await collection.updateMany({ _id: { $in: waiting } }, stages);
  }
  const lost = group.filter(({ userId }) => holds.get(userId) === true);
  if (without.length === 0) return lost;
  const version = new ObjectId();
  try {
    await collection.insertMany(
      without.map(({ userId, relevancy, reasons }) => ({
        ...{ _id: userId, version, floor: null },
        entries: [toEntryDocument({ actionId: actionId.toHexString(), relevancy, reasons })],
      })),
      { ordered: false },
    );
    return lost;
  } catch (error) {
    return [...lost, ...duplicatePositions(error).flatMap((position) => without[position] ?? [])];
  }
}

/**
 * Adds one entry in order, or raises it; evicts the last one if there is one too many, and raises the floor to it. One
 * atomic update. An entry that would not come above the floor changes nothing.
 */
export function putStages(
  actionId: ObjectId,
  { relevancy, reasons }: Pick<ReaderEntry, 'relevancy' | 'reasons'>,
  cap: number,
): Document[] {
  const others = {
    $filter: { input: '$entries', as: 'other', cond: { $ne: ['$$other.actionId', actionId] } },
  };
  const isSame = { $eq: ['$$other.actionId', actionId] };
  return [
    { $set: { entries: { $ifNull: ['$entries', []] }, floor: { $ifNull: ['$floor', null] } } },
    {
      $set: {
        version: new ObjectId(),
        entries: {
          $let: {
            vars: {
              held: { $arrayElemAt: [{ $filter: { input: '$entries', as: 'other', cond: isSame } }, 0] },
            },
            in: {
              $let: {
                vars: {
                  put: {
                    actionId,
                    relevancy: { $max: ['$$held.relevancy', relevancy] },
                    reasons: {
                      $concatArrays: [
                        { $ifNull: ['$$held.reasons', []] },
                        { $setDifference: [[...reasons], { $ifNull: ['$$held.reasons', []] }] },
                      ],
                    },
                  },
                },
                in: {
                  $cond: [
                    { $or: [{ $eq: ['$floor', null] }, comesBefore('$$put', '$floor')] },
                    {
                      $sortArray: {
                        input: { $concatArrays: [others, ['$$put']] },
                        sortBy: { relevancy: -1, actionId: -1 },
                      },
                    },
                    '$entries',
                  ],
                },
              },
            },
          },
        },
      },
    },
    {
      $set: {
        floor: {
          $cond: [
            { $gt: [{ $size: '$entries' }, cap] },
            {
              $let: {
                vars: { last: { $arrayElemAt: ['$entries', cap] } },
                in: { relevancy: '$$last.relevancy', actionId: '$$last.actionId' },
              },
            },
            '$floor',
          ],
        },
      },
    },
    { $set: { entries: { $slice: ['$entries', cap] } } },
  ];
}
