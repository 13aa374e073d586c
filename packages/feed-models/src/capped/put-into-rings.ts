import type { ActionId } from '../../../../src/domain/action.ts';
import type { ReaderDelivery } from '../../../../src/feeds/feed-store.ts';
import { isAbove } from '../../../../src/feeds/floor.ts';
import { fillRing } from './fill-ring.ts';
import { isOccupantOf, placeFor, placesOf, type Candidate, type Occupants, type RingSize } from './places.ts';
import type { FeedRingsRepository } from './repository.ts';
import type { FeedRing, SlotWrite } from './ring.ts';

/** Concurrent look-ups of single readers. */
const AT_ONCE = 16;

export interface PutOptions {
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
export async function putIntoRings(
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
