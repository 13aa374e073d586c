import type { RefId } from '../../../domain/action.ts';
import { clock } from '../../../lib/clock.ts';
import { toAction } from '../../../storage/actions/action-document.ts';
import { WITHOUT_DETAILS } from '../../../storage/directory/details.ts';
import { NEVER_STAMPED } from '../../../storage/directory/directory-stamps.ts';
import type { ActionDocument } from '../../../storage/documents/documents.ts';
import type { FeedEntryDocument } from '../../../storage/documents/feed-documents.ts';
import { toMarks } from '../../../storage/readers/feeds.ts';
import { FOLLOW_FIELDS, toFollow, type PlainFollow } from '../../../storage/follows/follow-reads.ts';
import { toMember, type PlainMember } from '../../../storage/directory/members.ts';
import type { Collections } from '../../../storage/database/mongo.ts';
import type { FeedDocument } from '../../../storage/documents/reader-documents.ts';
import { pulledIn } from '../../../storage/actions/source-actions.ts';
import type { FeedPageQuery, OpenedFeed, PulledQuestion } from '../../feed-store.ts';
import { MOST_GUESSED, type PulledAhead, type PullGuess } from '../../../storage/follows/pull-guesses.ts';
import { toEntry } from '../shared/entries.ts';
import { ENTRY_FIELDS, IN_FEED_ORDER, pageFilter } from '../shared/stored-entries.ts';

interface OpenedDocument extends FeedDocument {
  readonly members: readonly PlainMember[];
  /** With the revisions of their actions, if any. */
  readonly entries: readonly (FeedEntryDocument & { readonly rev?: number })[];
  readonly directory: readonly { readonly stamp: number }[];
  readonly follows?: readonly PlainFollow[];
  readonly pulled?: readonly ActionDocument[];
}

/** Upper bound on pulled refs included in the command. */
const MOST_PULLED = 500;

/**
 * Reads in one command what a page needs: the reader's marks, then the directory stamp, the member, the entries, and the
 * revision of each entry's action. With pulled refs, also which of them the reader follows and what a guess expects the page
 * to need of them. `null` when the reader has never read and so has no document to start from. Indexes `page`, `pair` or
 * `by_ref`, `pull`, and `_id` of the others.
 * @param items name of the collection of entries
 */
export function feedOpener(
  { feeds, members, actions, directoryStamps, follows }: Collections,
  items: string,
  epoch: number | undefined,
) {
  return async (query: FeedPageQuery, { refIds, guess }: PulledQuestion): Promise<OpenedFeed | null> => {
    const { userId, limit } = query;
    const asked = refIds.size > MOST_PULLED ? NONE : askedOf(refIds, guess);
    const guessed = asked.size === 0 ? null : guess;
    const asOf = clock.now();
    const [opened] = await feeds
      .aggregate<OpenedDocument>([
        { $match: { _id: userId } },
        // Read before all names: none may be older than the stamp it is cached under.
        lookUp(directoryStamps.collectionName, 'directory', [
          { $match: { _id: 'directory' } },
          { $project: { _id: 0, stamp: 1 } },
        ]),
        lookUp(members.collectionName, 'members', [
          { $match: { _id: userId } },
          { $project: WITHOUT_DETAILS },
        ]),
        ...(asked.size > 0
          ? [
              lookUp(follows.collectionName, 'follows', [
                { $match: { followerId: userId, refId: { $in: [...asked] } } },
                { $project: FOLLOW_FIELDS },
              ]),
            ]
          : []),
        lookUp(items, 'entries', [
          { $match: pageFilter(query) },
          { $sort: IN_FEED_ORDER },
          { $limit: limit },
          {
            $lookup: {
              ...{ from: actions.collectionName, localField: 'actionId', foreignField: '_id', as: 'actions' },
              pipeline: [{ $project: { _id: 0, rev: 1 } }],
            },
          },
          // Only the revision instead of a nested document each: that halves the decoding.
          { $project: { ...ENTRY_FIELDS, rev: { $arrayElemAt: ['$actions.rev', 0] } } },
        ]),
        // After the entries: an action moved from pushed to pulled meanwhile is found here.
        ...(guessed === null
          ? []
          : [
              lookUp(actions.collectionName, 'pulled', [
                { $match: pulledIn(guessed.refIds, { above: guessed.above, upTo: null }) },
                { $limit: MOST_GUESSED + 1 },
              ]),
            ]),
      ])
      .toArray();
    if (opened === undefined) return null;
    const [member] = opened.members;
    const found = (opened.follows ?? []).map(toFollow);
    const pulled = guessed === null ? null : aheadOf(opened, { guess: guessed, follows: found, asked });
    return {
      floor: null,
      entries: opened.entries.map((entry) => {
        const { actionId, relevancy, reasons } = toEntry(entry);
        return entry.rev === undefined
          ? { actionId, relevancy, reasons }
          : { actionId, relevancy, reasons, rev: entry.rev };
      }),
      reader: {
        asOf,
        marks: toMarks(opened, epoch),
        member: member === undefined ? null : toMember(member),
        directoryStamp: opened.directory[0]?.stamp ?? NEVER_STAMPED,
        ...(refIds.size > MOST_PULLED
          ? {}
          : { pulledFollows: found.filter(({ refId }) => refIds.has(refId)) }),
      },
      ...(pulled === null ? {} : { pulled }),
    };
  };
}

const NONE: ReadonlySet<RefId> = new Set();

function askedOf(refIds: ReadonlySet<RefId>, guess: PullGuess | null): ReadonlySet<RefId> {
  if (refIds.size === 0 || guess === null) return refIds;
  return new Set([...refIds, ...guess.otherIds]);
}

/** `null` when there is more than was requested. */
function aheadOf(
  { pulled = [] }: OpenedDocument,
  read: Pick<PulledAhead, 'guess' | 'follows' | 'asked'>,
): PulledAhead | null {
  return pulled.length > MOST_GUESSED ? null : { ...read, actions: pulled.map(toAction) };
}

function lookUp(from: string, as: string, pipeline: readonly object[]) {
  return { $lookup: { from, as, pipeline } };
}
