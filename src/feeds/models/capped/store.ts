import type { ActionId, UserId } from '../../../domain/action.ts';
import { compareFeedPositions, type FeedEntry, type FeedPosition } from '../../../domain/newsfeed-item.ts';
import { slotId, type FeedRing, type FeedRingsRepository, type SlotWrite } from './repository.ts';
import type { FeedStore, FillOptions, ReaderDelivery } from '../../feed-store.ts';
import { byBoost } from '../shared/by-boost.ts';
import { deliverInRounds } from '../shared/put-in-rounds.ts';
import { planRing } from './ring-plan.ts';

/** More rivals than that for one ring at the same time are no rivals but a fault. */
const MAX_TRIES = 100;
/** Look-ups of single readers at the same time. */
const AT_ONCE = 16;

/**
 * A ring of `cap` places per reader, one document each: the n-th entry has the place `n mod cap`, so the oldest gives way
 * to the newest by the write that puts it there, and a feed never takes more than its places. For sites that keep the last
 * so many items of everybody: storage is known beforehand, and no job has to clear anything away.
 *
 * An entry that is bumped is raised where it is. When its place is due, it is passed over as long as it belongs to the
 * newest half of the cap; the next place is taken. Whatever gives way, the floor is raised to it before.
 *
 * The cap may be another one at any start. A ring that grows is full after one more turn at the latest. One that shrinks
 * takes places beyond the cap no more, and frees them twice per turn, and with every fill, of what is not among the newest
 * `cap` entries any more.
 *
 * Cost for a chunk: five round trips where a ring is full, three where it is not, one more where it is not the first
 * attempt; for each reader a write of the counter and one of the entry. A bump is one `updateMany` per distinct relevancy
 * and set of reasons. Twice per turn of a ring, one query finds out what its newest half is. A page is two queries. A
 * fill reads the whole ring.
 */
export function cappedFeedStore(rings: FeedRingsRepository, cap: number): FeedStore {
  const half = Math.ceil(cap / 2);

  return {
    model: 'capped',
    deliver(chunk) {
      let tries = 0;
      return deliverInRounds(chunk, {
        holders: (userIds) => rings.holders(chunk.actionId, userIds),
        insert: (readers) => {
          tries += 1;
          // More numbers each time: what is passed over now may be many in a row.
          const count = Math.min(cap, 2 ** (tries - 1));
          return put(chunk.actionId, readers, { count, isLookedUp: tries > 1 || !chunk.isFirstAttempt });
        },
        raise: (readers) =>
          raise(
            chunk.actionId,
            readers.map(({ wanted }) => wanted),
          ),
      });
    },
    async fill(userId, entries, options) {
      if (entries.length === 0 && options?.isCompleteDownTo == null) return [];
      return fill(userId, entries, options ?? {});
    },
    async page(query) {
      // In this order: what gives way in between is at the floor or below by then.
      const entries = await rings.page(query);
      const { floor } = await rings.ring(query.userId);
      return { entries: entries.filter((entry) => isAbove(entry, floor)), floor };
    },
    // As in a page: a late writer can leave an older place of an entry below the floor.
    async find(userId, actionIds) {
      const entries = await rings.find(userId, actionIds);
      if (entries.length === 0) return entries;
      const { floor } = await rings.ring(userId);
      return entries.filter((entry) => isAbove(entry, floor));
    },
    holders: (actionId, query) => rings.someHolders(actionId, query),
    async remove(userIds, actionIds) {
      await rings.remove(userIds, actionIds);
      await rings.forgetPivots(userIds);
    },
    async trim(userId, from) {
      await rings.trim(userId, from);
      await rings.forgetPivots([userId]);
    },
    async drop(userId) {
      await rings.drop(userId);
      await rings.dropRing(userId);
    },
  };

  /** Returns those to try again: somebody else was faster, or no place was found yet. */
  async function put(
    actionId: ActionId,
    readers: readonly ReaderDelivery[],
    { count, isLookedUp }: { readonly count: number; readonly isLookedUp: boolean },
  ): Promise<ReaderDelivery[]> {
    const taken = await rings.take(
      readers.map(({ userId }) => userId),
      count,
    );
    for (const { userId, extent, first } of taken)
      if (extent > cap && first % half < count) await fill(userId, [], {});
    const byUser = new Map(taken.map((ring) => [ring.userId, ring]));
    const again: ReaderDelivery[] = [];
    const candidates: Candidate[] = [];
    for (const reader of readers) {
      const ring = byUser.get(reader.userId);
      const entry = { actionId, relevancy: reader.relevancy, reasons: reader.reasons };
      if (ring === undefined) again.push(reader);
      else if (isAbove(entry, ring.floor)) candidates.push({ reader, ring, entry });
      // At the floor or below nothing is promised; but an entry that is stored already is raised.
      else if (!isLookedUp) again.push(reader);
    }
    const places = candidates.flatMap(({ reader: { userId }, ring }) =>
      Array.from({ length: count }, (_, k) => ({ userId, slot: (ring.first + k) % cap })),
    );
    const holding = await rings.taken(places);
    const undecided: Candidate[] = [];
    const writes = new Map<SlotWrite, ReaderDelivery>();
    const choose = (candidate: Candidate): boolean => {
      const write = placeFor(candidate, count, holding);
      if (write !== null) writes.set(write, candidate.reader);
      return write !== null;
    };
    for (const candidate of candidates) {
      // Who has it already in one of these places is looked up: it would give way to itself, and might sink by that.
      if (isHeldIn(candidate, count, holding)) again.push(candidate.reader);
      else if (!choose(candidate)) undecided.push(candidate);
    }
    const letGo: Candidate[] = [];
    for (const candidate of await withPivots(undecided)) {
      if (choose(candidate)) continue;
      // All places have been looked at, and it is itself not among the newest half: it gives way.
      const { pivot } = candidate.ring;
      if (count === cap && pivot !== null && !isAbove(candidate.entry, pivot)) letGo.push(candidate);
      else again.push(candidate.reader);
    }
    await rings.raiseFloors([
      ...letGo.map(({ reader, entry }) => ({ userId: reader.userId, floor: entry })),
      ...[...writes.keys()].flatMap(({ userId, evicted }) =>
        evicted !== null && isAbove(evicted, byUser.get(userId)?.floor ?? null)
          ? [{ userId, floor: evicted }]
          : [],
      ),
    ]);
    const lost = await rings.write([...writes.keys()]);
    return [...again, ...lost.flatMap((write) => writes.get(write) ?? [])];
  }

  function isHeldIn(
    { ring: { userId, first }, entry }: Candidate,
    count: number,
    holding: ReadonlyMap<string, FeedPosition>,
  ): boolean {
    return Array.from({ length: count }, (_, k) => holding.get(slotId(userId, (first + k) % cap))).some(
      (holder) => holder?.actionId === entry.actionId,
    );
  }

  /** The first of the numbers taken whose place is free, or held by what may give way. */
  function placeFor(
    { ring, entry }: Candidate,
    count: number,
    holding: ReadonlyMap<string, FeedPosition>,
  ): SlotWrite | null {
    const { userId, first, floor } = ring;
    for (let k = 0; k < count; k++) {
      const slot = (first + k) % cap;
      const evicted = holding.get(slotId(userId, slot)) ?? null;
      if (evicted === null || !isAbove(evicted, floor) || mayGiveWay(evicted, entry, ring))
        return { userId, slot, entry, evicted };
    }
    return null;
  }

  /** Whether at least half of the cap is left above it. */
  function mayGiveWay(evicted: FeedPosition, entry: FeedPosition, { pivot }: FeedRing): boolean {
    // Of one place only the better one is kept.
    if (half === 1 && isAbove(entry, evicted)) return true;
    return pivot !== null && pivot.rank >= half && isAbove(pivot, evicted);
  }

  /** With what the newest half is now. */
  async function withPivots(candidates: readonly Candidate[]): Promise<Candidate[]> {
    const found: Candidate[] = [];
    for (let from = 0; from < candidates.length; from += AT_ONCE)
      found.push(
        ...(await Promise.all(
          candidates.slice(from, from + AT_ONCE).map(async (candidate): Promise<Candidate> => {
            const { ring } = candidate;
            const [position] = await rings.ranked(ring.userId, half, half);
            return {
              ...candidate,
              ring: { ...ring, pivot: position === undefined ? null : { ...position, rank: half } },
            };
          }),
        )),
      );
    await rings.setPivots(
      found.flatMap(({ ring: { userId, pivot } }) => (pivot === null ? [] : [{ userId, pivot }])),
    );
    return found;
  }

  /** Returns the readers who do not have it any more. */
  async function raise(
    actionId: ActionId,
    readers: readonly ReaderDelivery[],
  ): Promise<readonly ReaderDelivery[]> {
    const missed: ReaderDelivery[] = [];
    for (const { boost, readers: group } of byBoost(readers)) {
      const userIds = group.map(({ userId }) => userId);
      if ((await rings.raise(actionId, userIds, boost)) === group.length) continue;
      const held = new Set((await rings.holders(actionId, userIds)).map(({ userId }) => userId));
      missed.push(...group.filter(({ userId }) => !held.has(userId)));
    }
    return missed;
  }

  async function fill(
    userId: UserId,
    entries: readonly FeedEntry[],
    { isCompleteDownTo }: FillOptions,
  ): Promise<ActionId[]> {
    const added = new Set<ActionId>();
    let pending = entries;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const { numFeed, floor, extent } = await rings.ring(userId);
      const plan = planRing({
        userId,
        cap,
        first: numFeed,
        floor: higher(floor, isCompleteDownTo ?? null),
        held: await rings.all(userId),
        wanted: pending,
      });
      // Also without numbers to take: the floor may need a ring that is not there yet.
      const needsRing = plan.numbers > 0 || plan.floor !== null;
      if (needsRing && !(await rings.takeFrom(userId, numFeed, plan.numbers))) continue;
      if (plan.floor !== null) await rings.raiseFloors([{ userId, floor: plan.floor }]);
      const lost = new Set((await rings.write(plan.writes)).map(({ entry }) => entry.actionId));
      const raised = await rings.raiseForReader(userId, plan.behind);
      await rings.free(userId, plan.beyond);
      if (extent > cap && plan.isWithinCap) await rings.shrink(userId, extent);
      for (const { actionId } of plan.missing) if (!lost.has(actionId)) added.add(actionId);
      pending = [
        ...pending.filter(({ actionId }) => lost.has(actionId)),
        ...(raised === plan.behind.length ? [] : plan.behind),
      ];
      if (pending.length === 0) return [...added];
    }
    throw new Error('Filling a feed met other writers again and again');
  }
}

interface Candidate {
  readonly reader: ReaderDelivery;
  readonly ring: FeedRing;
  readonly entry: FeedEntry;
}

function isAbove(position: FeedPosition, other: FeedPosition | null): boolean {
  return other === null || compareFeedPositions(position, other) < 0;
}

function higher(a: FeedPosition | null, b: FeedPosition | null): FeedPosition | null {
  if (a === null || b === null) return a ?? b;
  return isAbove(a, b) ? a : b;
}
