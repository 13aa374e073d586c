import type { Collection, Filter } from 'mongodb';
import type { Action, RefId, UserId } from '../../domain/action.ts';
import { toAction } from './action-document.ts';
import { inTurns } from '../database/batches.ts';
import type { Follow } from '../../domain/viewer.ts';
import type { ActionDocument } from '../documents/documents.ts';
import { FOLLOW_FIELDS, toFollow, type PlainFollow } from '../documents/follow-document.ts';
import type { FollowDocument } from '../documents/reader-documents.ts';

declare module '../repositories.ts' {
  interface Repositories {
    readonly sourceActions: ReturnType<typeof sourceActionsRepository>;
  }
}

/** Batch size of queries without a limit. */
const BATCH = 1_000;
const KEYS_AT_ONCE = 1_000;

/** Keys by which actions reach a reader. */
export interface SourceKeys {
  /** Audience keys: the reader's own and those of their team and department. */
  readonly audience: readonly string[];
  /** Refs whose followers receive actions. */
  readonly refIds: readonly RefId[];
  /** Pulled refs; selects only their actions that were not pushed. */
  readonly pullRefIds: readonly RefId[];
  /** Members whose reshares their followers receive. */
  readonly passerIds: readonly UserId[];
}

/** A range of `latest`, the maximum of `conducted` and all interactions. */
export interface SourceWindow {
  /** Exclusive; `null`: unbounded. */
  readonly above: Date | null;
  /** Inclusive; `null`: unbounded. */
  readonly upTo: Date | null;
  /** Only actions with interactions that were conducted at or before this time. */
  readonly bumpedAndConductedBy?: Date;
}

/** Actions as the source of feeds: candidates for a reader, independent of stored feeds. */
export function sourceActionsRepository(
  collection: Collection<ActionDocument>,
  follows: Collection<FollowDocument>,
) {
  async function find(
    filter: Filter<ActionDocument>,
    window: SourceWindow,
    limit: number | null,
  ): Promise<Action[]> {
    const cursor = collection.find(visibleIn(filter, window)).batchSize(limit ?? BATCH);
    const documents = await inTurns(limit === null ? cursor : cursor.limit(limit));
    return documents.map(toAction);
  }

  return {
    /**
     * Visible actions that one of the keys may bring to the reader, unordered, without duplicates. One round trip with a
     * query per 1,000 keys and kind. More than `limit` results mean that there are more; `null`: no limit. Indexes
     * `audience`, `source`, `pull`, `reshared`; for bumped actions `audience_bumped`, `source_bumped`, `pull`, `reshared`.
     */
    async candidates(keys: SourceKeys, window: SourceWindow, limit: number | null): Promise<Action[]> {
      const reachesFollowers = { scope: { $in: ['FOLLOWERS' as const, 'PUBLIC' as const] } };
      const filters: Filter<ActionDocument>[] = [
        ...inParts(keys.audience).map((some) => ({ audience: { $in: some } })),
        ...inParts(keys.refIds).map((some) => ({ refIds: { $in: some }, ...reachesFollowers })),
        ...inParts(keys.pullRefIds).map((some) => ({ pullRefIds: { $in: some }, ...reachesFollowers })),
        ...inParts(keys.passerIds).map((some) => ({
          'reshares.by': { $in: some },
          // States the partial index's condition explicitly, since not every planner infers it.
          reshares: { $exists: true },
          scope: 'PUBLIC' as const,
        })),
      ];
      const found = await Promise.all(
        filters.map((filter) => find(filter, window, limit === null ? null : limit + 1)),
      );
      return [...new Map(found.flat().map((action) => [action.id, action])).values()];
    },

    /**
     * The same for at most 1,000 pulled refs, together with the reader's follows of these actions' refs, in one command. For
     * few actions. Indexes `pull`, and `by_ref` of the follows.
     */
    async pulledWithFollows(
      followerId: UserId,
      pullRefIds: readonly RefId[],
      { window, limit }: { readonly window: SourceWindow; readonly limit: number },
    ): Promise<{ readonly actions: readonly Action[]; readonly follows: readonly Follow[] }> {
      const documents = await inTurns(
        collection.aggregate<ActionDocument & { readonly follows: readonly PlainFollow[] }>(
          [
            {
              $match: pulledIn(pullRefIds, window),
            },
            { $limit: limit + 1 },
            {
              $lookup: {
                ...{
                  from: follows.collectionName,
                  localField: 'refIds',
                  foreignField: 'refId',
                  as: 'follows',
                },
                pipeline: [{ $match: { followerId } }, { $project: FOLLOW_FIELDS }],
              },
            },
          ],
          { batchSize: limit + 2 },
        ),
      );
      const found = new Map<RefId, Follow>();
      const actions = documents.map(({ follows: some, ...document }) => {
        for (const follow of some) found.set(follow.refId, toFollow(follow));
        return toAction(document);
      });
      return { actions, follows: [...found.values()] };
    },
  };
}

export function pulledIn(pullRefIds: readonly RefId[], window: SourceWindow): Filter<ActionDocument> {
  return visibleIn({ pullRefIds: { $in: [...pullRefIds] }, scope: { $in: ['FOLLOWERS', 'PUBLIC'] } }, window);
}

function visibleIn(filter: Filter<ActionDocument>, window: SourceWindow): Filter<ActionDocument> {
  const latest: { $gt?: Date; $lte?: Date } = {};
  if (window.above !== null) latest.$gt = window.above;
  if (window.upTo !== null) latest.$lte = window.upTo;
  return {
    ...filter,
    isDeleted: false,
    isHidden: false,
    ...(Object.keys(latest).length === 0 ? {} : { latest }),
    ...(window.bumpedAndConductedBy === undefined
      ? {}
      : { isBumped: true, conducted: { $lte: window.bumpedAndConductedBy } }),
  };
}

function inParts(keys: readonly string[]): string[][] {
  const parts: string[][] = [];
  for (let from = 0; from < keys.length; from += KEYS_AT_ONCE)
    parts.push(keys.slice(from, from + KEYS_AT_ONCE));
  return parts;
}
