import {
  eachChunk,
  type FeedModel,
  type FeedStore,
  type ReaderDelivery,
  type FillOptions,
  isAbove,
  higher,
} from '../../../../src/feed/feed-store.ts';
import { feedCollection, index } from '../../../../src/storage/documents/declaration.ts';
import { HOLDERS_INDEX, PAGE_INDEX, byBoost, isBehind } from '../../../../src/feed/models/stored-entries.ts';
import {
  cappedCollections,
  feedRingsRepository,
  type FeedRingsRepository,
  type FeedRing,
  type SlotWrite,
  slotId,
  type TakenSlot,
} from './repository.ts';
import type { ActionId, UserId } from '../../../../src/domain/action.ts';
import { deliverInRounds } from '../shared.ts';
import {
  type FeedEntry,
  type FeedPosition,
  compareFeedPositions,
} from '../../../../src/domain/newsfeed-item.ts';

export const cappedModel: FeedModel = {
  name: 'capped',
  collections: [
    feedCollection('feedSlots', {
      reader: 'userId',
      holds: 'a place in the ring of a feed, with its entry',
      indexes: [
        PAGE_INDEX,
        HOLDERS_INDEX,
        index('entry', { userId: 1, actionId: 1 }, 'feed model capped: an action has one place in a ring', {
          unique: true,
        }),
      ],
      serves: 'page and deliveries of a reader',
    }),
    feedCollection('feedRings', {
      reader: '_id',
      holds: 'the ring of a feed',
      indexes: [],
      serves: 'the feed of a reader',
    }),
  ],
  open: ({ db, cap }) => cappedFeedStore(feedRingsRepository(cappedCollections(db), cap), cap),
};

/**
 * A ring of `cap` slots per reader, one document each. The n-th entry goes to slot `n mod cap`, so the write that adds the
 * newest entry evicts the oldest, and a feed never exceeds its slots. For sites that keep the last so many items of
 * everybody: storage is known in advance, and no clean-up job is needed.
 *
 * A bumped entry is raised in place. When its slot is due, it is skipped while it belongs to the newest half of the cap, and
 * the next slot is used. Before an entry is evicted, the floor is raised to it.
 *
 * The cap may change at any start. A ring that grows is full after at most one more turn. A ring that shrinks no longer uses
 * slots beyond the cap, and frees those of entries outside the newest `cap`, twice per turn and with every fill.
 *
 * Cost of a chunk: five round trips for full rings, three otherwise, plus one unless it is the first attempt; per reader one
 * write of the counter and one of the entry. A bump is one `updateMany` per distinct relevancy and set of reasons. Twice per
 * turn of a ring, one query determines its newest half. A page is two queries. A fill reads the whole ring.
 */
export function cappedFeedStore(rings: FeedRingsRepository, cap: number): FeedStore {
  const size = { cap, half: Math.ceil(cap / 2) };

  return {
    model: 'capped',
    deliver: eachChunk((chunk) => {
      let tries = 0;
      return deliverInRounds(chunk, {
        holders: (userIds) => rings.holders(chunk.actionId, userIds),
        insert: (readers) => {
          tries += 1;
          // More numbers each time, since many consecutive slots may have to be skipped.
          const count = Math.min(cap, 2 ** (tries - 1));
          const isLookedUp = tries > 1 || !chunk.isFirstAttempt;
          return putIntoRings(rings, size, { actionId: chunk.actionId, readers }, { count, isLookedUp });
        },
        raise: (readers) =>
          raise(
            chunk.actionId,
            readers.map(({ wanted }) => wanted),
          ),
      });
    }),
    async fill(userId, entries, options) {
      if (entries.length === 0 && options?.isCompleteDownTo == null) return [];
      return fillRing(rings, cap, userId, entries, options ?? {});
    },
    async page(query) {
      // The order matters: an entry evicted in between is at or below the floor read afterwards.
      const entries = await rings.page(query);
      const { floor } = await rings.ring(query.userId);
      return { entries: entries.filter((entry) => isAbove(entry, floor)), floor };
    },
    // As in a page, a late writer may have left an older copy of an entry below the floor.
    async find(userId, actionIds) {
      const entries = await rings.find(userId, actionIds);
      if (entries.length === 0) return entries;
      const { floor } = await rings.ring(userId);
      return entries.filter((entry) => isAbove(entry, floor));
    },
    held: (actionId, userIds) => rings.holders(actionId, userIds),
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

  /** Returns the readers who no longer have it. */
  async function raise(
    actionId: ActionId,
    readers: readonly ReaderDelivery[],
  ): Promise<readonly ReaderDelivery[]> {
    const missed: ReaderDelivery[] = [];
    for (const { boost, readers: group } of byBoost(readers)) {
      const userIds = group.map(({ userId }) => userId);
      if ((await rings.raise(actionId, userIds, boost)) === group.length) continue;
      const stored = new Set((await rings.holders(actionId, userIds)).map(({ userId }) => userId));
      missed.push(...group.filter(({ userId }) => !stored.has(userId)));
    }
    return missed;
  }
}

/** Concurrent look-ups of single readers. */
const AT_ONCE = 16;

interface PutOptions {
  /** Numbers to claim in each ring. */
  readonly count: number;
  /** Existing holders of the action are already known. */
  readonly isLookedUp: boolean;
}

interface Choice {
  readonly writes: ReadonlyMap<SlotWrite, Candidate>;
  /** Entries below the newest half of full rings: evicted at once. */
  readonly letGo: readonly Candidate[];
  readonly again: readonly ReaderDelivery[];
}

/** Returns entries to retry: another writer was faster, or no slot was found yet. */
async function putIntoRings(
  rings: FeedRingsRepository,
  size: RingSize,
  delivery: { readonly actionId: ActionId; readonly readers: readonly ReaderDelivery[] },
  { count, isLookedUp }: PutOptions,
): Promise<ReaderDelivery[]> {
  const taken = await rings.take(
    delivery.readers.map(({ userId }) => userId),
    count,
  );
  for (const { userId, extent, first } of taken)
    if (extent > size.cap && first % size.half < count) await fillRing(rings, size.cap, userId, [], {});
  const { candidates, again } = candidatesOf(delivery, taken, isLookedUp);
  const choice = await choosePlaces(rings, size, candidates, count);
  await rings.raiseFloors(floorsOf(choice));
  const lost = await rings.write([...choice.writes.keys()]);
  return [...again, ...choice.again, ...lost.flatMap((write) => choice.writes.get(write)?.reader ?? [])];
}

function candidatesOf(
  { actionId, readers }: { readonly actionId: ActionId; readonly readers: readonly ReaderDelivery[] },
  taken: readonly FeedRing[],
  isLookedUp: boolean,
): { readonly candidates: readonly Candidate[]; readonly again: readonly ReaderDelivery[] } {
  const byUser = new Map(taken.map((ring) => [ring.userId, ring]));
  const again: ReaderDelivery[] = [];
  const candidates: Candidate[] = [];
  for (const reader of readers) {
    const ring = byUser.get(reader.userId);
    const entry = { actionId, relevancy: reader.relevancy, reasons: reader.reasons };
    if (ring === undefined) again.push(reader);
    else if (isAbove(entry, ring.floor)) candidates.push({ reader, ring, entry });
    // Nothing is promised at or below the floor, but an entry that is already stored is raised.
    else if (!isLookedUp) again.push(reader);
  }
  return { candidates, again };
}

async function choosePlaces(
  rings: FeedRingsRepository,
  size: RingSize,
  candidates: readonly Candidate[],
  count: number,
): Promise<Choice> {
  const occupants = await occupantsOf(rings, size, candidates, count);
  const writes = new Map<SlotWrite, Candidate>();
  const choose = (candidate: Candidate): boolean => {
    const write = placeFor(placesOf(candidate.ring, count, size), candidate, occupants, size);
    if (write !== null) writes.set(write, candidate);
    return write !== null;
  };
  const again: ReaderDelivery[] = [];
  const undecided: Candidate[] = [];
  for (const candidate of candidates) {
    // An existing copy in one of these slots would be evicted for its own new copy and might sink: raise it instead.
    if (isOccupantOf(placesOf(candidate.ring, count, size), candidate, occupants))
      again.push(candidate.reader);
    else if (!choose(candidate)) undecided.push(candidate);
  }
  const letGo: Candidate[] = [];
  for (const candidate of await withPivots(rings, size, undecided)) {
    if (choose(candidate)) continue;
    // All slots were examined, and the entry is not among the newest half: it is evicted itself.
    const { pivot } = candidate.ring;
    if (count === size.cap && pivot !== null && !isAbove(candidate.entry, pivot)) letGo.push(candidate);
    else again.push(candidate.reader);
  }
  return { writes, letGo, again };
}

function occupantsOf(
  rings: FeedRingsRepository,
  size: RingSize,
  candidates: readonly Candidate[],
  count: number,
): Promise<Occupants> {
  return rings.taken(
    candidates.flatMap(({ ring }) =>
      placesOf(ring, count, size).map((slot) => ({ userId: ring.userId, slot })),
    ),
  );
}

/** New floors, to be written before anything is evicted. */
function floorsOf({ writes, letGo }: Choice) {
  return [
    ...letGo.map(({ reader, entry }) => ({ userId: reader.userId, floor: entry })),
    ...[...writes].flatMap(([{ userId, evicted }, { ring }]) =>
      evicted !== null && isAbove(evicted, ring.floor) ? [{ userId, floor: evicted }] : [],
    ),
  ];
}

/** Updates where the newest half of the ring begins. */
async function withPivots(
  rings: FeedRingsRepository,
  { half }: RingSize,
  candidates: readonly Candidate[],
): Promise<Candidate[]> {
  const found: Candidate[] = [];
  const withPivot = async (candidate: Candidate): Promise<Candidate> => {
    const { ring } = candidate;
    const [position] = await rings.ranked(ring.userId, half, half);
    const pivot = position === undefined ? null : { ...position, rank: half };
    return { ...candidate, ring: { ...ring, pivot } };
  };
  for (let from = 0; from < candidates.length; from += AT_ONCE)
    found.push(...(await Promise.all(candidates.slice(from, from + AT_ONCE).map(withPivot))));
  await rings.setPivots(
    found.flatMap(({ ring: { userId, pivot } }) => (pivot === null ? [] : [{ userId, pivot }])),
  );
  return found;
}

/** More concurrent writers of one ring than this indicate a bug. */
const MAX_TRIES = 100;

/** Makes the ring contain the best of its own and the given entries, within the cap. Returns the new ones. */
async function fillRing(
  rings: FeedRingsRepository,
  cap: number,
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
      stored: await rings.all(userId),
      wanted: pending,
    });
    // Even without numbers to claim, raising the floor may require creating the ring.
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
  throw new Error('Filling a feed failed: other writers changed it each time');
}

interface RingSize {
  readonly cap: number;
  /** Number of newest entries that are never evicted. */
  readonly half: number;
}

/** An entry for a reader in whose ring numbers have been claimed for it. */
interface Candidate {
  readonly reader: ReaderDelivery;
  readonly ring: FeedRing;
  readonly entry: FeedEntry;
}

/** Entries in slots, by slot id. */
type Occupants = ReadonlyMap<string, FeedPosition>;

function placesOf({ first }: FeedRing, count: number, { cap }: RingSize): readonly number[] {
  return Array.from({ length: count }, (_, k) => (first + k) % cap);
}

function isOccupantOf(
  places: readonly number[],
  { ring: { userId }, entry }: Candidate,
  occupants: Occupants,
): boolean {
  return places.some((slot) => occupants.get(slotId(userId, slot))?.actionId === entry.actionId);
}

/** The first slot that is free or whose entry may be evicted. */
function placeFor(
  places: readonly number[],
  { ring, entry }: Candidate,
  occupants: Occupants,
  size: RingSize,
): SlotWrite | null {
  const { userId, floor } = ring;
  for (const slot of places) {
    const evicted = occupants.get(slotId(userId, slot)) ?? null;
    if (evicted === null || !isAbove(evicted, floor) || mayGiveWay(evicted, entry, ring, size))
      return { userId, slot, entry, evicted };
  }
  return null;
}

/** Whether at least half of the cap remains above it. */
function mayGiveWay(
  evicted: FeedPosition,
  entry: FeedPosition,
  { pivot }: FeedRing,
  { half }: RingSize,
): boolean {
  // With a single slot, the better entry is kept.
  if (half === 1 && isAbove(entry, evicted)) return true;
  return pivot !== null && pivot.rank >= half && isAbove(pivot, evicted);
}

interface RingState {
  readonly userId: UserId;
  readonly cap: number;
  /** The next number. */
  readonly first: number;
  readonly floor: FeedPosition | null;
  readonly stored: readonly TakenSlot[];
  readonly wanted: readonly FeedEntry[];
}

/** The steps that make a ring contain the wanted entries. */
interface RingPlan {
  /** Wanted entries that are not stored, whether they get a slot or not. */
  readonly missing: readonly FeedEntry[];
  /** Numbers to claim, including skipped ones. */
  readonly numbers: number;
  readonly writes: readonly SlotWrite[];
  /** Wanted entries that are stored and must be raised. */
  readonly behind: readonly FeedEntry[];
  /** Minimum for the floor. */
  readonly floor: FeedPosition | null;
  /** Entries in slots beyond the cap that no longer belong to the best. */
  readonly beyond: readonly TakenSlot[];
  /** No occupied slot remains beyond the cap. */
  readonly isWithinCap: boolean;
}

/**
 * Keeps or adds the best `cap` entries of stored and wanted ones; the others are evicted. New entries get the slots of the
 * numbers from `first` on that are free or whose entry is evicted; the lowest come first, so that they will be evicted
 * first.
 */
function planRing({ userId, cap, first, floor, stored, wanted }: RingState): RingPlan {
  const byId = new Map(stored.map((entry) => [entry.actionId, entry]));
  const missing = wanted.filter(({ actionId }) => !byId.has(actionId));
  const behind = wanted.filter((entry) => {
    const there = byId.get(entry.actionId);
    return there !== undefined && isBehind(there, entry);
  });
  const raisedTo = new Map(behind.map(({ actionId, relevancy }) => [actionId, relevancy]));
  const ranked = [
    ...missing,
    ...stored.map((entry) => {
      const relevancy = raisedTo.get(entry.actionId);
      return relevancy !== undefined && relevancy > entry.relevancy ? { ...entry, relevancy } : entry;
    }),
  ]
    .filter((entry) => floor === null || compareFeedPositions(entry, floor) < 0)
    .sort(compareFeedPositions);
  const kept = new Set(ranked.slice(0, cap).map(({ actionId }) => actionId));
  const coming = missing
    .filter(({ actionId }) => kept.has(actionId))
    .sort(compareFeedPositions)
    .reverse();
  const bySlot = new Map(stored.map((entry) => [entry.slot, entry]));
  const writes: SlotWrite[] = [];
  let numbers = 0;
  for (const entry of coming) {
    for (; numbers < cap; numbers++) {
      const slot = (first + numbers) % cap;
      const evicted = bySlot.get(slot) ?? null;
      if (evicted !== null && kept.has(evicted.actionId)) continue;
      writes.push({ userId, slot, entry, evicted });
      numbers += 1;
      break;
    }
  }
  const outside = stored.filter(({ slot }) => slot >= cap);
  const beyond = outside.filter(({ actionId }) => !kept.has(actionId));
  return {
    ...{ missing, numbers, writes, behind, beyond },
    floor: ranked[cap] ?? floor,
    isWithinCap: beyond.length === outside.length,
  };
}
