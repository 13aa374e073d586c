import { ObjectId } from 'mongodb';
import type { UserId } from '../../../domain/action.ts';
import type { FeedEntry, FeedPosition } from '../../../domain/newsfeed-item.ts';
import type { FeedEntryDocument } from '../../../storage/documents/feed-documents.ts';
import { toPlace } from '../../../storage/readers/feed-position.ts';

/** A reader's entry for an action that the context names. */
export interface ReaderEntry extends Pick<FeedEntry, 'relevancy' | 'reasons'> {
  readonly userId: UserId;
}

/** A piece of a feed: entries strictly after a place, `since` inclusive, `until` exclusive, by relevancy. */
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

/** An expression: whether the place that one expression gives comes before that of another in a feed. */
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

/** An expression: those of the document's entries that are above a position. */
export function entriesAbove(position: FeedPosition): object {
  return {
    $let: {
      vars: { from: toPlace(position) },
      in: { $filter: { input: '$entries', as: 'entry', cond: comesBefore('$$entry', '$$from') } },
    },
  };
}
