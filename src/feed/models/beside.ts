import type { Document, ObjectId } from 'mongodb';
import type { ActionId, UserId } from '../../domain/action.ts';
import type { FeedEntry } from '../../domain/newsfeed-item.ts';
import type { Collections } from '../../storage/database/mongo.ts';
import type { ActionDocument } from '../../storage/documents/documents.ts';
import type { FeedEntryDocument } from '../../storage/documents/feed-documents.ts';
import { type PlainFollow, toFollow } from '../../storage/documents/follow-document.ts';
import { toMark } from '../../storage/documents/item-mark-document.ts';
import type { ItemMarkDocument } from '../../storage/documents/reader-documents.ts';
import { literal } from '../../storage/stages/revision.ts';
import type { FoundBeside } from '../feed-store.ts';
import type { Beside } from '../store/known-answers.ts';
import { ENTRY_FIELDS, toEntry } from './stored-entries.ts';

/** The lists that the stages make. */
export interface BesideLists {
  readonly marks?: readonly ItemMarkDocument[];
  readonly unread?: readonly ItemMarkDocument[];
  readonly unreadEntries?: readonly FeedEntryDocument[];
  readonly unreadRevisions?: readonly Pick<ActionDocument, '_id' | 'rev'>[];
}

export function lookUp(from: string, as: string, pipeline: readonly object[]) {
  return { $lookup: { from, as, pipeline } };
}

/** All that have one of these ids. */
export function lookUpAll(from: string, as: string, ids: string, fields: object | null = null) {
  const pipeline = fields === null ? [] : [{ $project: fields }];
  return { $lookup: { from, localField: ids, foreignField: '_id', as, pipeline } };
}

/**
 * Stages that read it into lists of their own, all but the follows. The ids are those that the stages before have found. Indexes
 * `_id_`, and `unread` of the marks.
 * @param items the collection of entries, and the expression of the id that the entry of an action has
 */
export function besideStages(
  { unread, hasMarks }: Beside,
  userId: UserId,
  items: { readonly name: string; readonly idOf: (actionId: string) => Document },
): Document[] {
  const [itemMarks, actions] = ['itemMarks', 'actions'] as const satisfies readonly (keyof Collections)[];
  const each = (input: string, of: Document): Document => ({ $map: { input, as: 'one', in: of } });
  return [
    ...(hasMarks
      ? [
          { $set: { ids: each('$entries', { userId: literal(userId), actionId: '$$one.actionId' }) } },
          lookUpAll(itemMarks, 'marks', 'ids'),
        ]
      : []),
    ...(unread > 0
      ? [
          lookUp(itemMarks, 'unread', [
            { $match: { '_id.userId': userId, isUnread: true } },
            // Sorted by the field itself, it would be read in the order of all actions that anybody has marked.
            { $set: { actionId: '$_id.actionId' } },
            { $sort: { actionId: -1 } },
            { $limit: unread },
          ]),
          { $set: { ids: each('$unread', items.idOf('$$one.actionId')) } },
          lookUpAll(items.name, 'unreadEntries', 'ids', ENTRY_FIELDS),
          // After the entries, as for the page.
          lookUpAll(actions, 'unreadRevisions', 'unread.actionId', { rev: 1 }),
        ]
      : []),
    ...(hasMarks || unread > 0 ? [{ $unset: 'ids' }] : []),
  ];
}

/** @param entries of the page @param follows those that were found of the refs, or more */
export function besideIn(
  { marks = [], unread = [], unreadEntries = [], unreadRevisions = [] }: BesideLists,
  {
    asked,
    userId,
    entries,
    follows,
  }: { asked: Beside; userId: UserId; entries: readonly FeedEntry[]; follows: readonly PlainFollow[] },
): FoundBeside {
  const idOf = (id: ObjectId): ActionId => id.toHexString();
  const revisions = new Map(unreadRevisions.map(({ _id, rev }) => [idOf(_id), rev]));
  const found = unreadEntries.map(toEntry).map((entry): [ActionId, FeedEntry] => {
    const rev = revisions.get(entry.actionId);
    return [entry.actionId, rev === undefined ? entry : { ...entry, rev }];
  });
  const markOf = new Map([...marks, ...unread].map(toMark).map((mark) => [mark.actionId, mark]));
  const unmarked = asked.hasMarks ? entries.map(({ actionId }) => actionId) : [];
  const unreadIds = unread.map(({ _id }) => idOf(_id.actionId));
  const byId = new Map(found);
  return {
    asked,
    unread: unreadIds,
    revisions,
    marks: new Map([...unmarked, ...unreadIds].map((id) => [id, markOf.get(id) ?? null])),
    entries: new Map(unreadIds.map((id) => [id, byId.get(id) ?? null])),
    follows: new Map([
      ...Array.from(asked.refIds, (refId) => [refId, null] as const),
      ...follows.map((follow) => [follow.refId, { ...toFollow(follow), followerId: userId }] as const),
    ]),
  };
}

/** For the digest of an answer: equal for equal questions. */
export function nameOfBeside({ unread, hasMarks, refIds }: Beside): string {
  return JSON.stringify([unread, hasMarks, [...refIds]]);
}
