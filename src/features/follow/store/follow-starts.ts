import type { ObjectId } from 'mongodb';
import { type Document, type Filter, type WithId } from 'mongodb';
import type { Action, ActionId, RefId, UserId } from '../../../domain/action.ts';
import type { Follow } from '../../../domain/viewer.ts';
import { compareUtf8 } from '../../../lib/byte-text.ts';
import { clock } from '../../../lib/clock.ts';
import { toAction } from '../../../storage/actions/action-document.ts';
import { idsOfCached, type CachedAction } from '../../../storage/actions/actions.ts';
import { gatheredAggregates } from '../../../storage/database/batches.ts';
import type { Collections } from '../../../storage/database/mongo.ts';
import type { ActionDocument } from '../../../storage/documents/documents.ts';
import type { RefDocument } from '../../../storage/documents/directory-documents.ts';
import {
  toBlockBetween,
  type BlockBetween,
  type BlockDocument,
  type BlockId,
} from '../../../storage/documents/block-document.ts';
import type { PassedOn } from '../../interactions/store/interactions.ts';
import type { CountEpochs } from './follower-counts.ts';
import {
  FOLLOW_FIELDS,
  toFollow,
  type FollowPair,
  type PlainFollow,
} from '../../../storage/documents/follow-document.ts';
import { beyond, type Stretch, turned } from '../../../storage/documents/keyset.ts';

declare module '../../../storage/repositories.ts' {
  interface Repositories {
    readonly followStarts: ReturnType<typeof followStartsRepository>;
  }
}

export interface FollowStart {
  /** Between the two. `null`: there is none, or it was not asked for. */
  readonly block: BlockBetween | null;
  /** `null`: there was no follow of this ref. */
  readonly known: Follow | null;
  /** The epochs of the ref, for its number of followers. */
  readonly epochs: CountEpochs;
  /** The oldest of the newest actions that are copied, of all types; `null`: none. Undefined: takes another look. */
  readonly oldest: { readonly recorded: Date; readonly id: ActionId } | null | undefined;
  /** The newest actions. */
  readonly newest: readonly CachedAction[];
}

type Found =
  | { readonly recorded: Date; readonly _id: ObjectId; readonly rev: number; readonly expiresAt?: Date }
  | (BlockDocument & { readonly of: 'block' })
  | (PlainFollow & { readonly of: 'pair' })
  | (Pick<RefDocument, 'countEpoch' | 'isCounting'> & { readonly of: 'ref' });

/** Reshares that are read together with the actions. If a member passed on more, they are read apart. */
const FEW_PASSED_ON = 500;

/** The items that open spans bring. */
export interface Brought {
  /** Actions that have a ref, but for those that the caller has as they are. */
  readonly own: readonly Action[];
  /** The revisions of all actions that have a ref. */
  readonly revisions: ReadonlyMap<ActionId, number>;
  /** Reshares by the members among the refs; `null`: so many that they are read separately. */
  readonly passedOn: readonly PassedOn[] | null;
  /** Pairs between which there is a block. */
  readonly blocked: readonly BlockId[];
}

interface PassedOnDocument {
  readonly of: 'passed on';
  readonly actionId: ObjectId;
  readonly actorId: UserId;
  readonly passedOn: Date;
}

type BroughtDocument =
  | WithId<ActionDocument>
  | { readonly _id: ObjectId; readonly rev: number }
  | Pick<BlockDocument, '_id'>
  | PassedOnDocument;

/** The refs that a reader follows. */
export interface Followed {
  readonly refId: RefId;
  /** The attempt to follow a member who blocks them; `null`: a real follow. */
  readonly ofNobody: Follow | null;
}

/** Reads of follows together with other collections, one command each. */
export function followStartsRepository({ actions, blocks, follows, interactions, refs }: Collections) {
  const starts = gatheredAggregates<Found>(actions, { hint: 'recorded_by_ref' });
  const startsWithout = gatheredAggregates<Found>(follows);
  const brought = gatheredAggregates<BroughtDocument>(actions);

  return {
    /**
     * Everything that is read before a follow is opened. One round trip, shared by calls at the same time. Indexes
     * `recorded_by_ref`, `by_ref` or `pair`, `_id`.
     * @param asked.count newest actions to copy; 0: none
     * @param asked.withBlock whether a block between the two matters
     */
    async start(
      { followerId, refId }: FollowPair,
      { count, withBlock }: { readonly count: number; readonly withBlock: boolean },
    ): Promise<FollowStart> {
      const withBlocks = {
        $unionWith: {
          coll: blocks.collectionName,
          pipeline: [
            { $match: { _id: { userId: followerId, otherId: refId }, '_id.userId': followerId } },
            { $addFields: { of: 'block' } },
          ],
        },
      };
      const pair = [
        { $match: { followerId, refId } },
        { $project: { ...FOLLOW_FIELDS, of: { $literal: 'pair' } } },
      ];
      const ref = {
        $unionWith: {
          coll: refs.collectionName,
          pipeline: [
            { $match: { _id: refId } },
            { $project: { _id: 0, countEpoch: 1, isCounting: 1, of: { $literal: 'ref' } } },
          ],
        },
      };
      const newest = [
        { $match: { refIds: refId, ...VISIBLE_TO_FOLLOWERS } },
        { $sort: { recorded: -1, _id: -1 } },
        { $limit: count },
        { $project: { recorded: 1, rev: 1, expiresAt: 1 } },
        { $unionWith: { coll: follows.collectionName, pipeline: pair } },
        ref,
        ...(withBlock ? [withBlocks] : []),
      ];
      const found =
        count === 0
          ? await startsWithout([...pair, ref, ...(withBlock ? [withBlocks] : [])])
          : await starts(newest);
      const epochs = new Map<RefId, string | null>([[refId, null]]);
      const copied: Extract<Found, { recorded: Date }>[] = [];
      let known: Follow | null = null;
      let block: BlockBetween | null = null;
      for (const document of found)
        if (!('of' in document)) copied.push(document);
        else if (document.of === 'block') block = toBlockBetween(document);
        else if (document.of === 'pair') known = toFollow(document);
        else if (document.isCounting === true) epochs.delete(refId);
        else epochs.set(refId, document.countEpoch ?? null);
      const read = copied.map(({ _id, rev }) => ({ id: _id.toHexString(), rev }));
      return { block, known, epochs, oldest: oldestOf(copied), newest: read };
    },

    /**
     * The refs that the reader follows now, in order of id, and the attempts to follow members who block them. One round trip. Indexes
     * `pair` or `in_list`, `followed`.
     * @param listId only what is in this list of the reader. Default: all
     */
    async following(
      followerId: UserId,
      { from, isUp, limit }: Stretch<Pick<Followed, 'refId'>>,
      listId?: string,
    ): Promise<Followed[]> {
      const within = listId === undefined ? {} : { lists: listId };
      const [byRef, byOther] = [turned({ refId: 1 }, isUp), turned({ '_id.otherId': 1 }, isUp)];
      const after = beyond(byOther, from && { '_id.otherId': from.refId });
      const ofNobody = [
        { $match: { '_id.userId': followerId, isFollowed: true, ...within, ...after } },
        { $sort: byOther },
        { $limit: limit },
      ];
      const documents = await follows
        .aggregate<Pick<Followed, 'refId'> | BlockDocument>(
          [
            { $match: { followerId, active: true, ...within, ...beyond(byRef, from) } },
            { $sort: byRef },
            { $limit: limit },
            { $project: { _id: 0, refId: 1 } },
            { $unionWith: { coll: blocks.collectionName, pipeline: ofNobody } },
          ],
          { hint: listId === undefined ? 'pair' : 'in_list', batchSize: 2 * limit },
        )
        .toArray();
      return documents
        .map((found) =>
          'refId' in found
            ? { refId: found.refId, ofNobody: null }
            : { refId: found._id.otherId, ofNobody: toBlockBetween(found).followed },
        )
        .sort((one, other) => (isUp ? -1 : 1) * compareUtf8(one.refId, other.refId))
        .slice(0, limit);
    },

    /**
     * The items that open spans of these refs may bring since then. One round trip, shared by calls at the same time. Indexes
     * `recorded_by_ref`, `passed_on`.
     * @param types `null`: all types
     * @param pairs between which a block matters
     * @param cached actions that are not transferred unless they have changed
     */
    async broughtSince(
      refIds: readonly RefId[],
      since: Date,
      types: readonly string[] | null,
      pairs: readonly BlockId[],
      cached: readonly CachedAction[] = [],
    ): Promise<Brought> {
      const found = await brought([
        {
          $match: {
            refIds: { $in: [...refIds] },
            recorded: { $gte: since },
            ...VISIBLE_TO_FOLLOWERS,
            ...(types === null ? {} : { 'descriptor.type': { $in: [...types] } }),
          },
        },
        ...(cached.length === 0 ? [] : [idsOfCached(cached)]),
        ...(pairs.length === 0
          ? []
          : [{ $unionWith: { coll: blocks.collectionName, pipeline: blocksBetween(pairs) } }]),
        {
          $unionWith: {
            coll: interactions.collectionName,
            pipeline: [
              { $match: { actorId: { $in: [...refIds] }, passedOn: { $exists: true, $gte: since } } },
              { $limit: FEW_PASSED_ON + 1 },
              { $project: { _id: 0, actionId: 1, actorId: 1, passedOn: 1, of: { $literal: 'passed on' } } },
            ],
          },
        },
      ]);
      return toBrought(found);
    },
  };
}

function blocksBetween(pairs: readonly BlockId[]): Document[] {
  const userIds = [...new Set(pairs.map(({ userId }) => userId))];
  return [{ $match: { _id: { $in: [...pairs] }, '_id.userId': { $in: userIds } } }, { $project: { _id: 1 } }];
}

function toBrought(found: readonly BroughtDocument[]): Brought {
  const own: Action[] = [];
  const revisions = new Map<ActionId, number>();
  const passedOn: PassedOn[] = [];
  const blocked: BlockId[] = [];
  for (const document of found)
    if ('of' in document) {
      const { actionId, actorId: by, passedOn: at } = document;
      passedOn.push({ actionId: actionId.toHexString(), by, at });
    } else if (!('rev' in document)) blocked.push(document._id);
    else {
      if ('actorId' in document) own.push(toAction(document));
      revisions.set(document._id.toHexString(), document.rev);
    }
  return { own, revisions, blocked, passedOn: passedOn.length > FEW_PASSED_ON ? null : passedOn };
}

const VISIBLE_TO_FOLLOWERS: Filter<ActionDocument> & Document = {
  isDeleted: false,
  isHidden: false,
  scope: { $in: ['FOLLOWERS', 'PUBLIC'] },
};

/** Expired actions are deleted within a second; meanwhile, others would be copied instead. */
function oldestOf(copied: readonly Extract<Found, { recorded: Date }>[]): FollowStart['oldest'] {
  const now = clock.time();
  if (copied.some(({ expiresAt }) => expiresAt !== undefined && expiresAt.getTime() <= now)) return undefined;
  // A union keeps no order.
  const [last] = copied
    .map(({ _id, recorded }) => ({ recorded, id: _id.toHexString() }))
    .sort((a, b) => a.recorded.getTime() - b.recorded.getTime() || (a.id < b.id ? -1 : 1));
  return last ?? null;
}
