import { LRUCache } from 'lru-cache';
import type { Collection, Document, Filter } from 'mongodb';
import type { ActionRef, RefId, UserId } from '../../domain/action.ts';
import { reachesFollowers } from '../../domain/audience.ts';
import { blockTag } from '../../domain/block.ts';
import { clock } from '../../lib/clock.ts';
import { inSlices } from '../../lib/turn.ts';
import { upToEntries } from '../../lib/weight.ts';
import { inOneBatch, unionOf } from '../database/batches.ts';
import type { ActionDocument } from '../documents/documents.ts';
import { literal } from '../stages/revision.ts';
import { VISIBLE_TO_FOLLOWERS } from './action-document.ts';

/** Actions among which one is looked for that describes a ref: a bound for refs that have very many. */
const FIRST_ACTIONS = 100;
/** Refs that one command looks for: planning a union takes longer with each part of it, more than in proportion. */
const NAMED_AT_ONCE = 8;
/** Refs of which a process knows where they were named. */
const KNOWN = 50_000;
/** Refs that one command asks about by what is known, and actions that it reads: most have one or none. */
const ASKED_AT_ONCE = 200;
const MOST_READ = 1_000;

/**
 * Where a process last found the first action that names a ref. It is a hint of where to look: up to that time everything is read again.
 * `NOWHERE`: no action did, and there were few. `UNKNOWN`: there are too many to read them again.
 */
type Place = Date | 'NOWHERE' | 'UNKNOWN';

const FIELDS = {
  ...{ refIds: 1, recorded: 1, refs: 1 },
  ...{ isDeleted: 1, isHidden: 1, scope: 1, expiresAt: 1 },
} as const;
/** A ref as an action names it. */
interface NamingRef {
  readonly recorded: Date;
  readonly ref: ActionRef;
}
type NamingDocument = Pick<ActionDocument, '_id' | keyof typeof FIELDS>;

/** Finds what actions call refs. Part of the repository of actions. */
export function namingByActions(collection: Collection<ActionDocument>) {
  const places = new LRUCache<RefId, Place>(upToEntries(KNOWN));

  /** The first of such actions of each ref that followers may see, among the first hundred recorded. One round trip for 8 refs. */
  async function firstWith(
    wanted: readonly { readonly refId: RefId; readonly where: Filter<ActionDocument> }[],
  ): Promise<(NamingRef & { readonly actorId: UserId })[]> {
    if (wanted.length === 0) return [];
    const pipelines = wanted.map(({ refId, where }): Document[] => [
      { $match: where },
      { $sort: { recorded: 1, _id: 1 } },
      { $limit: FIRST_ACTIONS },
      { $match: { 'refs.id': refId, ...VISIBLE_TO_FOLLOWERS, expiresAt: { $not: { $lte: clock.now() } } } },
      { $limit: 1 },
      { $project: { _id: 0, actorId: 1, recorded: 1, refs: 1, refId: literal(refId) } },
    ]);
    const found = await inSlices(pipelines, NAMED_AT_ONCE, (some) =>
      collection
        .aggregate<Pick<ActionDocument, 'actorId' | 'recorded' | 'refs'> & { readonly refId: RefId }>(
          unionOf(collection, some),
          { batchSize: NAMED_AT_ONCE + 1 },
        )
        .toArray(),
    );
    return found.flat().flatMap(({ actorId, recorded, refs, refId }) => {
      const ref = refs.find(({ id }) => id === refId);
      return ref === undefined ? [] : [{ actorId, recorded, ref }];
    });
  }

  /** The same for refs of which it is known where to look. Those of which it has to look again are missing. */
  async function wherePlaced(asked: readonly Asked[]): Promise<ReadonlyMap<RefId, NamingRef | null>> {
    const found = await inSlices(asked, ASKED_AT_ONCE, async (some) => {
      const documents = await inOneBatch(
        collection
          .find({ $or: placesOf(some) })
          .hint('recorded_by_ref')
          .project<NamingDocument>(FIELDS)
          .limit(MOST_READ),
        MOST_READ,
      );
      if (documents.length < MOST_READ) return some.flatMap((place) => firstNamed(place, documents));
      const counts = countBy(documents.flatMap(({ refIds }) => refIds));
      for (const [refId] of some)
        if (places.has(refId) && (counts.get(refId) ?? 0) >= MOST_READ / ASKED_AT_ONCE)
          places.set(refId, 'UNKNOWN');
      return [];
    });
    return new Map(found.flat());
  }

  /** Those of which the process has looked for the first action before. */
  async function whereKnown(refIds: readonly RefId[]): Promise<ReadonlyMap<RefId, NamingRef | null>> {
    return wherePlaced(
      refIds.flatMap((refId): Asked[] => {
        const place = places.get(refId);
        return place === undefined || place === 'UNKNOWN' ? [] : [[refId, place]];
      }),
    );
  }

  /** Many at once that the process has not looked for: most often few actions have them, and all of these are read. */
  async function whereFew(refIds: readonly RefId[]): Promise<ReadonlyMap<RefId, NamingRef | null>> {
    const unknown = refIds.filter((refId) => !places.has(refId));
    if (unknown.length <= NAMED_AT_ONCE) return new Map();
    const found = await wherePlaced(unknown.map((refId) => [refId, 'NOWHERE']));
    for (const [refId, first] of found) places.set(refId, first?.recorded ?? 'NOWHERE');
    return found;
  }

  return {
    /**
     * Refs as the first action names them that all followers may see, of the first hundred recorded with each id. So another
     * action does not change them, and an action that is hidden or deleted describes nothing. One round trip for 200 refs that the process
     * has looked for before, and for 200 others that few actions have; one for 8 that many have. Index `recorded_by_ref`.
     */
    async firstNaming(refIds: readonly RefId[]): Promise<ActionRef[]> {
      const [known, few] = await Promise.all([whereKnown(refIds), whereFew(refIds)]);
      const placed = new Map([...known, ...few]);
      const missing = refIds.filter((refId) => !placed.has(refId));
      const found = await firstWith(missing.map((refId) => ({ refId, where: { refIds: refId } })));
      const named = new Map(found.map((one) => [one.ref.id, one]));
      for (const refId of missing)
        if (places.get(refId) !== 'UNKNOWN') places.set(refId, named.get(refId)?.recorded ?? 'NOWHERE');
      return [...placed.values(), ...found].flatMap((one) => one?.ref ?? []);
    },

    /** The same, of the actor's own actions that have the id without a name. Index `unnamed`. */
    firstUnnamed(
      wanted: readonly { readonly actorId: UserId; readonly refId: RefId }[],
    ): Promise<{ readonly actorId: UserId; readonly ref: ActionRef }[]> {
      return firstWith(
        wanted.map(({ actorId, refId }) => ({
          refId,
          // States the partial index's condition explicitly, since not every planner infers it.
          where: { unnamed: { $eq: blockTag(refId), $exists: true }, actorId },
        })),
      );
    },
  };
}

type Asked = readonly [refId: RefId, place: Date | 'NOWHERE'];

/** What was recorded up to there: one condition for all refs that nothing named. */
function placesOf(asked: readonly Asked[]): Filter<ActionDocument>[] {
  const nowhere = asked.flatMap(([refId, place]) => (place === 'NOWHERE' ? [refId] : []));
  const named = asked.flatMap(([refId, place]) =>
    place === 'NOWHERE' ? [] : [{ refIds: refId, recorded: { $lte: place } }],
  );
  return [...(nowhere.length === 0 ? [] : [{ refIds: { $in: nowhere } }]), ...named];
}

/** @param documents all that were recorded up to there, and others. @returns nothing if what comes after has to be looked at */
function firstNamed(
  [refId, place]: Asked,
  documents: readonly NamingDocument[],
): (readonly [RefId, NamingRef | null])[] {
  const first = documents
    .filter(({ refIds, recorded }) => refIds.includes(refId) && (place === 'NOWHERE' || recorded <= place))
    .sort(
      (a, b) =>
        a.recorded.getTime() - b.recorded.getTime() || (a._id.toHexString() < b._id.toHexString() ? -1 : 1),
    )
    .slice(0, FIRST_ACTIONS)
    .flatMap(({ refs, ...action }) => {
      const ref = isForFollowers(action) ? refs.find(({ id }) => id === refId) : undefined;
      return ref === undefined ? [] : { recorded: action.recorded, ref };
    })
    .at(0);
  return first === undefined && place !== 'NOWHERE' ? [] : [[refId, first ?? null]];
}

/** As `VISIBLE_TO_FOLLOWERS` says, and not expired. */
function isForFollowers({
  isDeleted,
  isHidden,
  scope,
  expiresAt,
}: Pick<ActionDocument, 'isDeleted' | 'isHidden' | 'scope' | 'expiresAt'>): boolean {
  const isThere = expiresAt === undefined || expiresAt.getTime() > clock.time();
  return !isDeleted && !isHidden && isThere && reachesFollowers({ scope });
}

function countBy(ids: readonly RefId[]): ReadonlyMap<RefId, number> {
  const counts = new Map<RefId, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}
