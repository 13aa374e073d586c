import { ObjectId, type Collection, type Filter } from 'mongodb';
import type { Action, ActionId, RefId, UserId } from '../../domain/action.ts';
import { MAX_FUTURE_MS, type RelevancyAction } from '../../domain/relevancy.ts';
import { fieldBeside } from '../../domain/stored-id.ts';
import type { VisibleAction } from '../../domain/visibility.ts';
import { clock } from '../../lib/clock.ts';
import { toAction, type WantedActions, wantedFilter } from './action-document.ts';
import { inOneBatch, inTurns } from '../database/batches.ts';
import type { Follow } from '../../domain/viewer.ts';
import { mapInTurns } from '../../lib/turn.ts';
import type { ActionDocument } from '../documents/documents.ts';
import { FOLLOW_FIELDS, toFollow, type PlainFollow } from '../documents/follow-document.ts';
import type { FollowDocument } from '../documents/reader-documents.ts';

declare module '../repositories.ts' {
  interface Repositories {
    readonly sourceActions: ReturnType<typeof sourceActionsRepository>;
  }
}

const KEYS_AT_ONCE = 10_000;

/** What of an action decides in whose feeds it is, and where. */
export type SourceAction = VisibleAction & RelevancyAction & Pick<Action, 'rev' | 'latest' | 'isBumped'>;

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
  /** It is a range of `conducted` instead. Default: no. */
  readonly isOfConducted?: boolean;
}

/** Candidates from the upper end of a window down. */
export interface Candidates {
  readonly actions: readonly SourceAction[];
  /** Everything wanted above this time is there; `null`: everything. */
  readonly above: Date | null;
  /** Number of actions that were looked at, wanted or not. */
  readonly examined: number;
}

export interface CandidatesQuery {
  readonly window: SourceWindow;
  /** Default: all. */
  readonly wanted?: WantedActions | undefined;
  /** That are returned of each kind of keys; `null`: all. */
  readonly most: number | null;
  /** That are examined of each kind of keys, wanted or not. Default: all. */
  readonly examined?: number;
}

const timeOf = ({ isOfConducted }: SourceWindow) => (isOfConducted === true ? 'conducted' : 'latest');
/** Batch size of queries without a limit. */
const BATCH = 1_000;

const FIELDS = {
  ...{ rev: 1, actorId: 1, conducted: 1, recorded: 1, latest: 1, shownAt: 1, expiresAt: 1 },
  ...{ scope: 1, audience: 1, mentions: 1, recipients: 1, refIds: 1, pullRefIds: 1, reshares: 1 },
  ...{ audienceRev: 1, concerned: 1, formerlyConcerned: 1, isBumped: 1, 'descriptor.type': 1 },
  'engagement.lastInteraction': 1,
} as const;

type SourceDocument = Pick<
  ActionDocument,
  Exclude<keyof typeof FIELDS, 'descriptor.type' | 'engagement.lastInteraction'>
> & {
  readonly _id: ObjectId;
  readonly descriptor: { readonly type: string };
  readonly engagement: Pick<ActionDocument['engagement'], 'lastInteraction'>;
};

function toSourceAction({ _id, engagement, ...document }: SourceDocument): SourceAction {
  const { concerned, expiresAt } = document;
  return {
    ...document,
    id: _id.toHexString(),
    pullRefIds: document.pullRefIds ?? [],
    reshares: document.reshares ?? [],
    audienceRev: document.audienceRev ?? 0,
    concerned: concerned?.map(({ key, since }) => ({ key, since: since ?? null })) ?? null,
    formerlyConcerned: document.formerlyConcerned ?? [],
    isBumped: document.isBumped ?? engagement.lastInteraction !== null,
    isHidden: false,
    get isDeleted() {
      return expiresAt !== undefined && clock.time() >= expiresAt.getTime();
    },
  };
}

/** Actions as the source of feeds: candidates for a reader, independent of stored feeds. */
export function sourceActionsRepository(
  collection: Collection<ActionDocument>,
  follows: Collection<FollowDocument>,
) {
  async function find(
    among: Filter<ActionDocument>,
    { window, wanted, most, examined }: CandidatesQuery,
  ): Promise<Candidates> {
    const time = timeOf(window);
    const lowest = (of: readonly SourceDocument[]): Date =>
      new Date(Math.min(...of.map((one) => one[time].getTime())));
    const { refId: _refId, ...further } = wanted ?? {};
    const filter = wantedFilter(further);
    if (Object.keys(filter).length === 0 || examined === undefined) {
      const cursor = collection.find({ ...among, ...filter }).project<SourceDocument>(FIELDS);
      const found = await (most === null
        ? inTurns(cursor.batchSize(BATCH))
        : inOneBatch(cursor.sort({ [time]: -1 }).limit(most), most));
      return {
        actions: await mapInTurns(found, toSourceAction),
        above: found.length === most ? lowest(found) : window.above,
        examined: found.length,
      };
    }
    const [found] = await inOneBatch(
      collection.aggregate<{
        readonly wanted: readonly SourceDocument[];
        readonly examined: readonly { readonly count: number; readonly above: Date }[];
      }>([
        { $match: among },
        { $sort: { [time]: -1 } },
        { $limit: examined },
        {
          $facet: {
            wanted: [{ $match: filter }, ...(most === null ? [] : [{ $limit: most }]), { $project: FIELDS }],
            examined: [{ $group: { _id: null, count: { $sum: 1 }, above: { $min: `$${time}` } } }],
          },
        },
      ]),
      1,
    );
    const actions = found?.wanted ?? [];
    const [all] = found?.examined ?? [];
    const isCut = actions.length === most;
    return {
      actions: await mapInTurns(actions, toSourceAction),
      above: isCut ? lowest(actions) : all?.count === examined ? all.above : window.above,
      examined: all?.count ?? 0,
    };
  }

  return {
    /**
     * Visible actions that one of the keys may bring to the reader, from the upper end of the window down, unordered, without
     * duplicates. One round trip with a query per 10,000 keys and kind. Indexes `audience`, `source`, `pull`, `reshared`; for bumped
     * actions `audience_bumped`, `source_bumped`, `pull`, `reshared`.
     */
    async candidates(keys: SourceKeys, query: CandidatesQuery): Promise<Candidates> {
      const time = timeOf(query.window);
      const found = await Promise.all(
        filtersOf(keys, query.wanted?.refId).map((filter) => find(visibleIn(filter, query.window), query)),
      );
      // Each went as far down as this.
      const above = found.reduce<Date | null>(
        (highest, one) =>
          one.above !== null && (highest === null || one.above > highest) ? one.above : highest,
        null,
      );
      const actions = new Map(
        found.flatMap((one) => one.actions).map((action) => [action.id, action] as const),
      );
      return {
        above,
        examined: found.reduce((sum, one) => sum + one.examined, 0),
        actions: [...actions.values()].filter((action) => above === null || action[time] > above),
      };
    },

    /**
     * Ids of visible actions that were recorded by a time and conducted at another or later, so ahead of the clock. `null`: they are more
     * than `most`. One round trip. Index `ahead`.
     * @param beside of whose tenant they are
     */
    async conductedAhead(
      beside: UserId,
      { recordedBy, since, most }: { readonly recordedBy: Date; readonly since: Date; readonly most: number },
    ): Promise<readonly ActionId[] | null> {
      const found = await inOneBatch(
        collection
          .find({
            ...{ ...fieldBeside(beside), isAhead: true, conducted: { $gte: since } },
            ...{ recorded: { $lte: recordedBy }, isDeleted: false, isHidden: false },
          })
          .project<Pick<ActionDocument, '_id'>>({ _id: 1 })
          .limit(most + 1),
        most + 1,
      );
      return found.length > most ? null : found.map(({ _id }) => _id.toHexString());
    },

    /** Those of these actions that are neither hidden nor deleted. One round trip. */
    async find(ids: readonly ActionId[]): Promise<readonly SourceAction[]> {
      const found = await inOneBatch(
        collection
          .find({ _id: { $in: ids.map((id) => new ObjectId(id)) }, isHidden: false, isDeleted: false })
          .project<SourceDocument>(FIELDS),
        ids.length,
      );
      return mapInTurns(found, toSourceAction);
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

/** By what actions can reach the reader. @param refId that they have to carry */
function filtersOf(keys: SourceKeys, refId: RefId | undefined): Filter<ActionDocument>[] {
  const { audience, refIds, pullRefIds, passerIds } = keys;
  if (audience.length + refIds.length + pullRefIds.length + passerIds.length === 0) return [];
  if (refId !== undefined) return [{ refIds: refId }];
  const reachesFollowers = { scope: { $in: ['FOLLOWERS' as const, 'PUBLIC' as const] } };
  return [
    ...inParts(audience).map((some) => ({ audience: { $in: some } })),
    ...inParts(refIds).map((some) => ({ refIds: { $in: some }, ...reachesFollowers })),
    ...inParts(pullRefIds).map((some) => ({ pullRefIds: { $in: some }, ...reachesFollowers })),
    ...inParts(passerIds).map((some) => ({
      'reshares.by': { $in: some },
      // States the partial index's condition explicitly, since not every planner infers it.
      reshares: { $exists: true },
      scope: 'PUBLIC' as const,
    })),
  ];
}

export function pulledIn(pullRefIds: readonly RefId[], window: SourceWindow): Filter<ActionDocument> {
  return visibleIn({ pullRefIds: { $in: [...pullRefIds] }, scope: { $in: ['FOLLOWERS', 'PUBLIC'] } }, window);
}

function visibleIn(filter: Filter<ActionDocument>, window: SourceWindow): Filter<ActionDocument> {
  const { above, upTo, isOfConducted } = window;
  const after = above === null ? {} : { $gt: above };
  const range = { ...after, ...(upTo === null ? {} : { $lte: upTo }) };
  const isBounded = Object.keys(range).length > 0;
  return {
    ...filter,
    isDeleted: false,
    isHidden: false,
    ...(isBounded && isOfConducted !== true && { latest: range }),
    ...(isBounded && isOfConducted === true && { conducted: range }),
    // Most indexes have `latest`, which is at most so much below. The index `slice` has the time itself.
    ...(above !== null &&
      isOfConducted === true &&
      !('refIds' in filter) && { latest: { $gt: new Date(above.getTime() - MAX_FUTURE_MS) } }),
    ...(window.bumpedAndConductedBy === undefined
      ? {}
      : { isBumped: true, conducted: { $lte: window.bumpedAndConductedBy } }),
  };
}

/** Number of queries for candidates of these keys. */
export function kindsOf({ audience, refIds, pullRefIds, passerIds }: SourceKeys): number {
  const all = [audience, refIds, pullRefIds, passerIds];
  return all.reduce((sum, { length }) => sum + Math.ceil(length / KEYS_AT_ONCE), 0);
}

function inParts(keys: readonly string[]): string[][] {
  const parts: string[][] = [];
  for (let from = 0; from < keys.length; from += KEYS_AT_ONCE)
    parts.push(keys.slice(from, from + KEYS_AT_ONCE));
  return parts;
}
