import { groupsOf } from '../../../../src/lib/groups-of.ts';
import { feedCollection, index, type Declaration } from '../../../../src/storage/documents/declaration.ts';
import type { FeedModel, FeedStore, FeedPageQuery } from '../../../../src/feed/feed-store.ts';
import {
  feedBucketsRepository,
  type FeedBucketsRepository,
  type BucketEntry,
  type BucketPlace,
} from './repository.ts';
import type { ActionId, UserId } from '../../../../src/domain/action.ts';
import {
  compareFeedPositions,
  type FeedEntry,
  type FeedPosition,
} from '../../../../src/domain/newsfeed-item.ts';
import { unite } from '../shared.ts';
import { isBehind } from '../../../../src/feed/models/stored-entries.ts';

const TIME_BUCKET_MS = 24 * 60 * 60 * 1_000;
/**
 * Capacity of a document. A delivery rewrites the whole document and, in the local engine, its key in the index `holders` for
 * each entry: with 100 and 50 entries it takes the engine more than twice as long, and no page is faster.
 */
const TIME_BUCKET_ENTRIES = 20;
const SIZE_BUCKET_ENTRIES = 16;

function buckets(name: string): Declaration {
  return feedCollection(name, {
    holds: 'a part of a feed',
    reader: 'userId',
    serves: 'page and deliveries of a reader',
    indexes: [
      index(
        'open',
        { userId: 1, span: 1 },
        'feed models of buckets: the one bucket of a span that is being filled',
        { unique: true, partialFilterExpression: { isOpen: true } },
      ),
      index('empty', { userId: 1 }, 'feed models of buckets: what holds nothing any more and can go', {
        partialFilterExpression: { isEmpty: true },
      }),
      index('page', { userId: 1, top: -1, bottom: -1 }, 'feed models of buckets: page and unread count'),
      index(
        'holders',
        { 'entries.actionId': 1, userId: 1 },
        'feed models of buckets: who holds an action; cascade',
      ),
    ],
  });
}

export const timeBucketsModel: FeedModel = {
  name: 'time-buckets',
  collections: [buckets('timeBuckets')],
  open: ({ db }) =>
    timeBucketsFeedStore(feedBucketsRepository(db.collection('timeBuckets'), TIME_BUCKET_ENTRIES), {
      spanMs: TIME_BUCKET_MS,
    }),
};

export const sizeBucketsModel: FeedModel = {
  name: 'size-buckets',
  collections: [buckets('sizeBuckets')],
  open: ({ db }) =>
    sizeBucketsFeedStore(feedBucketsRepository(db.collection('sizeBuckets'), SIZE_BUCKET_ENTRIES)),
};

/**
 * One document per reader and time span, numbered by relevancy divided by the span; busy spans have several documents, each
 * closed when full. For sites whose feeds are read by day or week and whose entries are seldom bumped out of their span.
 * Never evicts.
 *
 * Cost of a chunk: three or four commands, plus one unless it is the first attempt: find readers with an open document,
 * write to those, write for the others, and check for concurrent writes. The database writes one document of up to
 * `capacity` entries per reader. A bump within the span takes three commands; out of it six: the entry is added to its new
 * span, found twice and removed from the old one, and empty documents are deleted. A page is one query, or two if it is not
 * the first. It reads whole documents: too much where a span is crowded, several small ones where spans are sparse. A
 * removal takes two commands. Storage: about 80 bytes per entry and one index key, plus about 150 bytes and three keys per
 * document.
 */
function timeBucketsFeedStore(
  buckets: FeedBucketsRepository,
  { spanMs }: { readonly spanMs: number },
): FeedStore {
  return bucketFeedStore({
    model: 'time-buckets',
    buckets,
    spanOf: (relevancy) => Math.floor(relevancy.getTime() / spanMs),
    raisesInPlace: true,
  });
}

/**
 * Documents with a fixed number of entries: one per reader is open, and is closed when full. For sites with long feeds, few
 * bumps and deliveries in order: few documents and index entries, and a page reads one or two of them. Never evicts.
 *
 * Cost of a chunk: three or four commands, plus one unless it is the first attempt: find readers with an open document,
 * write to those, write for the others, and check for concurrent writes. The database writes one document of up to
 * `capacity` entries per reader. A bump takes six commands: the entry is added to the open document, found twice and removed
 * from the old one, and empty documents are deleted. A page is one query, or two if it is not the first; when deliveries
 * came out of order, documents overlap, and more of them are read. A removal takes two commands. Storage: about 80 bytes per
 * entry and one index key, plus about 150 bytes and three keys per document.
 */
function sizeBucketsFeedStore(buckets: FeedBucketsRepository): FeedStore {
  return bucketFeedStore({
    model: 'size-buckets',
    buckets,
    spanOf: () => 0,
    raisesInPlace: false,
  });
}

const MAX_ROUNDS = 20;
/** Buckets read beyond those of the page; four times as many if they do not suffice. */
const SPARE_BUCKETS = 2;

interface BucketModel {
  readonly model: string;
  readonly buckets: FeedBucketsRepository;
  /** The time span whose buckets an entry belongs in. */
  readonly spanOf: (relevancy: Date) => number;
  /** Whether an entry raised within its span stays in its bucket, even a closed one. */
  readonly raisesInPlace: boolean;
}

type Change = 'added' | 'raised';

/**
 * Shared behaviour of the bucket models. An entry raised into another bucket is added there first and then removed from the
 * old one, so it is never missing; readers that find two copies use the better one.
 *
 * No index prevents two writers from adding an entry to two buckets at once: every write is checked afterwards, and the
 * worse copy is removed. Both writers may then report it as added.
 */
function bucketFeedStore(options: BucketModel): FeedStore {
  const { model, buckets, spanOf } = options;
  return {
    model,
    async deliver(chunks) {
      const wanted = chunks.map(({ actionId, readers }) =>
        readers.map((reader) => ({ ...reader, actionId })),
      );
      const isFirstAttempt = chunks.every((chunk) => chunk.isFirstAttempt);
      const changes = await put(options, wanted.flat(), isFirstAttempt);
      let at = 0;
      return wanted.map((entries) => {
        const own = changes.slice(at, (at += entries.length));
        const changed = (change: Change): UserId[] =>
          entries.filter((_, index) => own[index] === change).map(({ userId }) => userId);
        return { added: changed('added'), raised: changed('raised') };
      });
    },
    async fill(userId, entries) {
      const wanted = entries.map((entry) => ({ ...entry, userId }));
      const changes = await put(options, wanted, false);
      return entries.filter((_, index) => changes[index] === 'added').map(({ actionId }) => actionId);
    },
    page: async (query) => ({ entries: await readPage(buckets, query), floor: null }),
    async find(userId, actionIds) {
      const places = byEntry(await buckets.places([userId], actionIds));
      return [...places.values()].flatMap((copies) => toEntry(best(copies)));
    },
    async held(actionId, userIds) {
      const places = byEntry(await buckets.places(userIds, [actionId]));
      return [...places.values()].map(best);
    },
    holders: (actionId, query) => buckets.someHolders(actionId, query),
    remove: (userIds, actionIds) => buckets.remove(userIds, actionIds),
    trim: (userId, from) => buckets.trim(userId, from),
    drop: (userId) => buckets.drop(userId),
  };

  /** Writes and checks until every entry is in exactly one place, with at least the wanted relevancy and reasons. */
  async function put(
    { raisesInPlace }: BucketModel,
    wanted: readonly BucketEntry[],
    isFirstAttempt: boolean,
  ): Promise<(Change | undefined)[]> {
    const changes = new Map<BucketEntry, Change>();
    // Added without looking first: another copy found later was there before.
    const unseen = new Set<BucketEntry>();
    let pending = wanted;
    for (let round = 0; pending.length > 0; round++) {
      if (round === MAX_ROUNDS)
        throw new Error('Writing entries failed: other writers changed the feed each time');
      const isBlind = round === 0 && isFirstAttempt;
      const places = byEntry(isBlind ? [] : await placesOf(pending));
      const missing: BucketEntry[] = [];
      const moving: BucketEntry[] = [];
      const raising: BucketPlace[] = [];
      const strays: BucketPlace[] = [];
      for (const entry of pending) {
        const copies = places.get(keyOf(entry));
        if (copies === undefined) {
          missing.push(entry);
          if (isBlind) unseen.add(entry);
          continue;
        }
        const place = best(copies);
        const others = copies.filter((copy) => copy !== place);
        const whole = others.reduce<FeedEntry>(unite, place);
        const former = others.find((copy) => isBehind(copy, entry));
        // Whether a better copy was there before is unknown: its writer may have seen this copy as the earlier one.
        if (unseen.has(entry) && former !== undefined) changes.set(entry, 'raised');
        if (isBehind(whole, entry)) {
          if (!changes.has(entry)) changes.set(entry, 'raised');
          const target = { ...place, ...unite(whole, entry) };
          const stays =
            place.span === spanOf(target.relevancy) &&
            (raisesInPlace || place.isOpen || target.relevancy.getTime() === place.relevancy.getTime());
          if (stays) raising.push(target);
          else moving.push({ userId: entry.userId, ...toEntry(target) });
        } else if (isBehind(place, whole)) raising.push({ ...place, ...whole });
        else strays.push(...others);
      }
      const writes = new Set([...missing, ...moving].map(keyOf));
      for (const { userId, actionId } of raising) writes.add(keyOf({ userId, actionId }));
      const lost = new Set((await write([...missing, ...moving], raising)).map(keyOf));
      for (const entry of missing) {
        if (lost.has(keyOf(entry))) unseen.delete(entry);
        else changes.set(entry, 'added');
      }
      await buckets.takeOut(strays);
      pending = pending.filter((entry) => writes.has(keyOf(entry)));
    }
    return wanted.map((entry) => changes.get(entry));
  }

  function placesOf(entries: readonly BucketEntry[]): Promise<BucketPlace[]> {
    const userIds = [...new Set(entries.map(({ userId }) => userId))];
    const actionIds = [...new Set(entries.map(({ actionId }) => actionId))];
    return buckets.places(userIds, actionIds);
  }

  /** Many entries of one feed fill whole buckets; the rest is added to open ones. Returns what could not be added. */
  async function write(
    entries: readonly BucketEntry[],
    raise: readonly BucketPlace[],
  ): Promise<readonly BucketEntry[]> {
    const groups = new Map<string, { span: number; entries: BucketEntry[] }>();
    for (const entry of [...entries].sort(compareFeedPositions)) {
      const span = spanOf(entry.relevancy);
      const key = `${String(span)} ${entry.userId}`;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, { span, entries: [entry] });
      else group.entries.push(entry);
    }
    const full: { span: number; entries: BucketEntry[] }[] = [];
    const rest: { span: number; entry: BucketEntry }[] = [];
    for (const { span, entries: group } of groups.values()) {
      let from = 0;
      for (; group.length - from >= buckets.capacity && buckets.capacity > 1; from += buckets.capacity)
        full.push({ span, entries: group.slice(from, from + buckets.capacity) });
      rest.push(...group.slice(from).map((entry) => ({ span, entry })));
    }
    await buckets.insertFull(full);
    return buckets.write({ put: rest, raise });
  }
}

/** Reads enough buckets in one statement to determine the page. */
async function readPage(buckets: FeedBucketsRepository, query: FeedPageQuery): Promise<FeedEntry[]> {
  const { userId, after, since, until, limit } = query;
  const upper = earlier(after?.relevancy, until);
  for (let count = Math.ceil(limit / buckets.capacity) + SPARE_BUCKETS; ; count *= 4) {
    const read = await buckets.read({
      userId,
      limit: count,
      ...(since === undefined ? {} : { since }),
      ...(upper === undefined ? {} : { upper }),
    });
    const isAll = read.length < count;
    const unread = read.at(-1)?.top.getTime() ?? -Infinity;
    const copies = read.flatMap(({ entries }) => entries).sort(compareFeedPositions);
    const entries = uniqueByAction(copies).filter((entry) => isAsked(entry, query));
    const sure = isAll ? entries : entries.filter(({ relevancy }) => relevancy.getTime() > unread);
    const page = upper === undefined ? sure : await withoutRaised(buckets, userId, sure.slice(0, limit + 1));
    if (isAll || page.length >= limit) return page.slice(0, limit);
  }
}

/** Drops entries with a better copy above the requested range: they are being moved there. */
async function withoutRaised(
  buckets: FeedBucketsRepository,
  userId: UserId,
  entries: readonly FeedEntry[],
): Promise<FeedEntry[]> {
  if (entries.length === 0) return [];
  const places = byEntry(
    await buckets.places(
      [userId],
      entries.map(({ actionId }) => actionId),
    ),
  );
  return entries.filter((entry) => {
    const copies = places.get(keyOf({ userId, actionId: entry.actionId }));
    return copies === undefined || best(copies).relevancy.getTime() <= entry.relevancy.getTime();
  });
}

function isAsked(entry: FeedEntry, { after, since, until }: FeedPageQuery): boolean {
  return (
    (after === undefined || compareFeedPositions(after, entry) < 0) &&
    (since === undefined || entry.relevancy.getTime() >= since.getTime()) &&
    (until === undefined || entry.relevancy.getTime() < until.getTime())
  );
}

function uniqueByAction(sorted: readonly FeedEntry[]): FeedEntry[] {
  const seen = new Set<ActionId>();
  return sorted.filter(({ actionId }) => !seen.has(actionId) && seen.add(actionId));
}

function best(copies: readonly BucketPlace[]): BucketPlace {
  return copies.reduce((a, b) => (isBetter(b, a) ? b : a));
}

/** Breaks ties by bucket, so that all writers keep the same copy. */
function isBetter(a: BucketPlace, b: BucketPlace): boolean {
  const byPosition = compareFeedPositions(a, b);
  return byPosition === 0 ? a.bucketId > b.bucketId : byPosition < 0;
}

const byEntry = (places: readonly BucketPlace[]) => groupsOf(places, keyOf);

/** Unambiguous, since an action id has no spaces. */
function keyOf({ userId, actionId }: Pick<BucketEntry, 'userId' | 'actionId'>): string {
  return `${actionId} ${userId}`;
}

function toEntry({ actionId, relevancy, reasons }: FeedEntry): FeedEntry {
  return { actionId, relevancy, reasons };
}

function earlier(a: FeedPosition['relevancy'] | undefined, b: Date | undefined): Date | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a.getTime() < b.getTime() ? a : b;
}
