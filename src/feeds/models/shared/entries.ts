import { ObjectId } from 'mongodb';
import type { UserId } from '../../../domain/action.ts';
import type { FeedEntry, FeedPosition } from '../../../domain/newsfeed-item.ts';
import type { FeedEntryDocument } from '../../../storage/documents/feed-documents.ts';
import { toPlace } from '../../../storage/readers/feed-position.ts';

/** A reader's entry; the action is known from the context. */
export interface ReaderEntry extends Pick<FeedEntry, 'relevancy' | 'reasons'> {
  readonly userId: UserId;
}

/** A range of a feed: entries strictly after a position; relevancies from `since` inclusive to `until` exclusive. */
export interface EntryQuery {
  readonly after?: FeedPosition;
  readonly since?: Date;
  readonly until?: Date;
  /** At least 1. */
  readonly limit: number;
}

export function toEntry({ actionId, relevancy, reasons }: FeedEntryDocument): FeedEntry {
  return { actionId: actionId.toHexString(), relevancy, reasons };
}

export function toEntryDocument({ actionId, relevancy, reasons }: FeedEntry): FeedEntryDocument {
  return { actionId: new ObjectId(actionId), relevancy, reasons: [...reasons] };
}

/** Expression: whether the position given by one expression comes before another in feed order. */
export function comesBefore(a: string, b: string): object {
  return {
    $or: [
      { $gt: [`${a}.relevancy`, `${b}.relevancy`] },
      {
        $and: [{ $eq: [`${a}.relevancy`, `${b}.relevancy`] }, { $gt: [`${a}.actionId`, `${b}.actionId`] }],
      },
    ],
  };
}

/** Expression: the document's entries above a position. */
export function entriesAbove(position: FeedPosition): object {
  return {
    $let: {
      vars: { from: toPlace(position) },
      in: { $filter: { input: '$entries', as: 'entry', cond: comesBefore('$$entry', '$$from') } },
    },
  };
}
