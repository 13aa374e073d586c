import { feedCollection } from '../../storage/documents/declaration.ts';
import type {
  FeedModel,
  DeliveryChunk,
  ReaderDelivery,
  FeedStore,
  FewFeeds,
  FeedPageQuery,
  FoundBeside,
  OpenedFeed,
  OpenedPage,
  PulledQuestion,
  Placement,
} from '../feed-store.ts';
import {
  PAGE_INDEX,
  byBoost,
  isBehind,
  oneOf,
  storedEntries,
  type EntryKeys,
  toEntry,
  ENTRY_FIELDS,
  IN_FEED_ORDER,
  pageFilter,
} from './stored-entries.ts';
import { type BesideLists, besideIn, besideStages, lookUp, lookUpAll, nameOfBeside } from './beside.ts';
import { hash } from 'node:crypto';
import { BSON, ObjectId, type Collection, type Db, type Document } from 'mongodb';
import type { ActionId, UserId, RefId } from '../../domain/action.ts';
import { DELIVERY_REASONS, type DeliveryReason, type FeedEntry } from '../../domain/newsfeed-item.ts';
import type { NewsfeedItemDocument, ActionDocument } from '../../storage/documents/documents.ts';
import type { StoredEntryDocument, FeedEntryDocument } from '../../storage/documents/feed-documents.ts';
import { insertMissing } from '../../storage/database/batches.ts';
import { clock } from '../../lib/clock.ts';
import { gathered } from '../../lib/gathered.ts';
import { literal } from '../../storage/stages/revision.ts';
import { toAction } from '../../storage/actions/action-document.ts';
import { WITHOUT_DETAILS } from '../../storage/documents/member-document.ts';
import { NEVER_STAMPED } from '../../storage/stamps/directory-stamps.ts';
import { toMarks } from '../store/feeds.ts';
import { FOLLOW_FIELDS, toFollow, type PlainFollow } from '../../storage/documents/follow-document.ts';
import { toMember, type PlainMember } from '../../storage/documents/member-document.ts';
import type { Collections } from '../../storage/database/mongo.ts';
import type { FeedDocument } from '../../storage/documents/reader-documents.ts';
import { pulledIn } from '../../storage/actions/source-actions.ts';
import type { Beside } from '../store/known-answers.ts';
import { MOST_GUESSED, type PulledAhead, type PullGuess } from '../store/pulled-refs.ts';

const COLLECTION = 'newsfeedItems';

export const itemsModel: FeedModel = {
  name: 'items',
  collections: [
    feedCollection(COLLECTION, {
      holds: 'an entry of a feed',
      reader: 'userId',
      // All else is found by `_id`.
      indexes: [PAGE_INDEX],
      serves: 'page, unread count and deliveries of a reader',
    }),
  ],
  open: ({ db, feedEpoch, isSharded = false }) =>
    itemsFeedStore(
      newsfeedItemsRepository(db.collection(COLLECTION), db.collection(COLLECTION)),
      // Would work on a sharded cluster, too, but the reader's shard would query other shards once per action.
      isSharded ? null : feedOpener(db, COLLECTION, feedEpoch),
    ),
};

/**
 * One document per reader and action. The model for most sites: entries of any reader can be raised and removed
 * individually, nothing is evicted, and the cost of a delivery does not depend on the length of the feed.
 *
 * Cost: a page is one query; a delivery to a new reader is one insert in a bulk write; a bump is one `updateMany` per
 * distinct relevancy and set of reasons, plus one query for readers in small groups and in groups where some readers lack
 * the action.
 */
function itemsFeedStore(items: NewsfeedItemsRepository, open: FeedStore['open'] | null): FeedStore {
  return {
    model: 'items',
    isUncapped: true,
    ...(open == null ? {} : { open }),
    async deliver(chunks) {
      const prepared = await Promise.all(chunks.map(prepare));
      // Another writer may have inserted some of these meanwhile: look them up.
      const late = new Set(await items.insert(prepared.flatMap(({ missing }) => missing)));
      return Promise.all(
        prepared.map(async ({ actionId, missing, behind }) => {
          const overtaken = late.size === 0 ? [] : missing.filter((entry) => late.has(entry));
          return {
            added: missing.filter((entry) => !late.has(entry)).map((entry) => entry.userId),
            raised: await raise(actionId, [...behind, ...(await overtakenBehind(actionId, overtaken))]),
          };
        }),
      );
    },
    async fill(userId, entries) {
      if (entries.length === 0) return [];
      // Nearly all are missing: which of them are not, the insert tells.
      const overtaken = await items.insertFew(entries.map((entry) => ({ ...entry, userId })));
      const missing = entries.map(({ actionId }) => actionId);
      if (overtaken.length === 0) return missing;
      const ids = new Set(overtaken.map(({ actionId }) => actionId));
      const stored = new Map((await items.find(userId, [...ids])).map((entry) => [entry.actionId, entry]));
      const behind = overtaken.filter((entry) => isBehind(stored.get(entry.actionId) ?? entry, entry));
      await items.raiseForReader(userId, behind);
      return missing.filter((id) => !ids.has(id));
    },
    page: async (query) => ({ entries: await items.page(query), floor: null }),
    find: (userId, actionIds) => items.find(userId, actionIds),
    held: (actionId, userIds) => items.holders(actionId, userIds),
    holders: (actionId, query) => items.someHolders(actionId, query),
    raise: (actionId, relevancy, few) =>
      few === undefined
        ? items.raiseAll(actionId, relevancy)
        : items.raiseFew({ actionId, relevancy, ...few }),
    remove: (userIds, actionIds) => items.remove(userIds, actionIds),
    trim: (userId, from) => items.trim(userId, from),
    drop: (userId) => items.drop(userId),
  };

  async function prepare({ actionId, readers: all, isFirstAttempt, isRaise = false }: DeliveryChunk) {
    const readers = isRaise ? await withoutRaised(actionId, all) : all;
    const stored = isFirstAttempt ? NONE : await holdersOf(actionId, readers);
    return {
      actionId,
      missing: readers
        .filter((reader) => !stored.has(reader.userId))
        .map((reader) => ({ ...reader, actionId })),
      behind: readers.filter((reader) => isStoredBehind(stored, reader)),
    };
  }

  /**
   * Raises large groups of readers without reading their entries first. Returns the readers for whom the entries must be
   * read: small groups, so that an action with many different positions does not need a write for each, and groups in which
   * a reader lacks the action.
   */
  async function withoutRaised(
    actionId: string,
    readers: readonly ReaderDelivery[],
  ): Promise<readonly ReaderDelivery[]> {
    const left: ReaderDelivery[] = [];
    for (const { boost, readers: group } of byBoost(readers)) {
      const userIds = group.map((reader) => reader.userId);
      const isLarge = group.length * LARGE_SHARE >= readers.length;
      const count = isLarge ? await items.raise(actionId, userIds, boost) : 0;
      if (count < group.length) left.push(...group);
    }
    return left;
  }

  async function holdersOf(actionId: string, readers: readonly ReaderDelivery[]): Promise<Holders> {
    if (readers.length === 0) return NONE;
    const userIds = readers.map((reader) => reader.userId);
    const holders = await items.holders(actionId, userIds);
    return new Map(holders.map((holder) => [holder.userId, holder]));
  }

  async function overtakenBehind(
    actionId: string,
    overtaken: readonly ReaderDelivery[],
  ): Promise<readonly ReaderDelivery[]> {
    const stored = await holdersOf(actionId, overtaken);
    return overtaken.filter((reader) => isStoredBehind(stored, reader));
  }

  async function raise(actionId: string, readers: readonly ReaderDelivery[]): Promise<string[]> {
    for (const { boost, readers: group } of byBoost(readers))
      await items.raise(
        actionId,
        group.map((reader) => reader.userId),
        boost,
      );
    return readers.map((reader) => reader.userId);
  }
}

type Holders = ReadonlyMap<string, Placement>;
/** A group is large if it has at least one in so many of the chunk's readers. */
const LARGE_SHARE = 4;
const NONE: Holders = new Map();

/** Whether the stored entry has a lower relevancy or fewer reasons than wanted. */
function isStoredBehind(stored: Holders, reader: ReaderDelivery): boolean {
  const holder = stored.get(reader.userId);
  return holder !== undefined && isBehind(holder, reader);
}

type NewEntry = FeedEntry & { readonly userId: UserId };

function newDocument({ userId, relevancy, reasons, ...entry }: NewEntry): NewsfeedItemDocument {
  const actionId = new ObjectId(entry.actionId);
  return { _id: itemId(userId, actionId), userId, actionId, relevancy, reasons: [...reasons] };
}

/**
 * Deterministic, so a reader has one item per action. Contains the reader, the shard key, so that equal ids are on the same
 * shard. The action comes first, so that the items of an action are adjacent in the index on `_id`, in the order of their
 * readers: no other index is needed to find them.
 */
export function itemId(userId: UserId, actionId: ObjectId): string {
  return `${actionId.toHexString()}${SEPARATOR}${userId}`;
}

/** The same as an expression. */
const idOfEntry =
  (userId: UserId) =>
  (actionId: string): Document => ({ $concat: [{ $toString: actionId }, literal(`${SEPARATOR}${userId}`)] });

const SEPARATOR = '_';
/** The character after the separator: greater than every id that begins with the action and the separator. */
const BEYOND = '`';

const BY_ID: EntryKeys = {
  of: (userIds, actionIds) => {
    const ids = actionIds.flatMap((actionId) => userIds.map((userId) => `${actionId}${SEPARATOR}${userId}`));
    return { _id: oneOf(ids), userId: oneOf(userIds) };
  },
  holders: (actionId, after) => ({
    filter: {
      _id: {
        $gt: `${actionId}${SEPARATOR}${after ?? ''}`,
        $lt: `${actionId}${BEYOND}`,
      },
    },
    order: { _id: 1 },
  }),
};

type Raise = FewFeeds & { readonly actionId: ActionId; readonly relevancy: Date };

const RAISED_AT_ONCE = 100;
const INSERTED_AT_ONCE = 500;

/** One document per reader and action. Unique key: `_id`. */
function newsfeedItemsRepository(
  collection: Collection<NewsfeedItemDocument>,
  /** The same collection with the fields that all models share. */
  entries: Collection<StoredEntryDocument>,
) {
  const insert = (documents: readonly NewsfeedItemDocument[]) =>
    insertMissing(collection, documents, ({ _id }) => _id);
  const insertFew = gathered((lists: readonly (readonly NewsfeedItemDocument[])[]) => insert(lists.flat()), {
    most: INSERTED_AT_ONCE,
    sizeOf: ({ length }) => length,
  });

  return {
    ...storedEntries(entries, BY_ID),

    /** One write for a range of `_id`, in every shard. */
    async raiseAll(actionId: ActionId, relevancy: Date): Promise<void> {
      await entries.updateMany(BY_ID.holders(actionId, null).filter, { $max: { relevancy } });
    },

    /** The same, or for some readers. One write for calls at the same time, so that those for one action do not meet. */
    raiseFew: gathered(
      async (raises: readonly Raise[]): Promise<void> => {
        const highest = new Map<string, Raise>();
        for (const one of raises) {
          const feeds = JSON.stringify([one.actionId, one.userIds ?? '']);
          if (one.relevancy > (highest.get(feeds)?.relevancy ?? -Infinity)) highest.set(feeds, one);
        }
        // In one order in all processes, and all readers of an action before some: two that meet never wait for each other.
        const inOrder = [...highest].sort(([feeds], [others]) => (feeds < others ? -1 : 1));
        const operations = inOrder.map(([, { actionId, relevancy, userIds }]) => {
          const filter =
            userIds === undefined ? BY_ID.holders(actionId, null).filter : BY_ID.of(userIds, [actionId]);
          return { updateMany: { filter, update: { $max: { relevancy } } } };
        });
        await entries.bulkWrite(operations, { ordered: false });
      },
      { most: RAISED_AT_ONCE },
    ),

    /** Inserts missing entries in one unordered write. Returns those that already existed. */
    insert: <T extends NewEntry>(missing: readonly T[]) => insertEach(missing, insert),

    /** The same. One write for calls at the same time, unless they have many entries. */
    insertFew: <T extends NewEntry>(missing: readonly T[]) => insertEach(missing, insertFew),
  };
}

async function insertEach<T extends NewEntry>(
  missing: readonly T[],
  insert: (documents: readonly NewsfeedItemDocument[]) => Promise<ReadonlySet<NewsfeedItemDocument>>,
): Promise<T[]> {
  const made = missing.map((entry) => ({ entry, document: newDocument(entry) }));
  const stored = await insert(made.map(({ document }) => document));
  return made.flatMap(({ entry, document }) => (stored.has(document) ? [entry] : []));
}

type NewsfeedItemsRepository = ReturnType<typeof newsfeedItemsRepository>;

interface OpenedDocument extends FeedDocument, RawLists, BesideLists {
  readonly members: readonly PlainMember[];
  readonly directory: readonly { readonly stamp: number }[];
  readonly follows?: readonly PlainFollow[];
  readonly pulled?: readonly ActionDocument[];
}

/** Upper bound on pulled refs included in the command. */
const MOST_PULLED = 500;

/**
 * Reads in one command what a page needs: the reader's marks, then the directory stamp, the member, the entries, and the
 * revision of each entry's action. With pulled refs, also which of them the reader follows and what a guess expects the page
 * to need of them. What is asked for beside the page is read after it. `null` when the reader has never read and so has no document to start from. Indexes `page`, `pair` or
 * `by_ref`, `pull`, and `_id` of the others.
 * @param items name of the collection of entries
 */
function feedOpener(db: Db, items: string, epoch: number | undefined) {
  const feeds = db.collection<FeedDocument>('feeds' satisfies keyof Collections);
  const [members, actions, directoryStamps, follows] = [
    'members',
    'actions',
    'directoryStamps',
    'follows',
  ] as const satisfies readonly (keyof Collections)[];
  return async (
    query: FeedPageQuery,
    { refIds, guess }: PulledQuestion,
    beside: Beside | null,
  ): Promise<OpenedFeed | null> => {
    const { userId, limit } = query;
    const pulled = refIds.size > MOST_PULLED ? NO_REFS : askedOf(refIds, guess);
    const guessed = pulled.size === 0 ? null : guess;
    const asked = beside === null ? pulled : new Set([...pulled, ...beside.refIds]);
    const asOf = clock.now();
    const pipeline = [
      { $match: { _id: userId } },
      // Read before all names: none may be older than the stamp it is cached under.
      lookUp(directoryStamps, 'directory', [
        { $match: { _id: 'directory' } },
        { $project: { _id: 0, stamp: 1 } },
      ]),
      lookUp(members, 'members', [{ $match: { _id: userId } }, { $project: WITHOUT_DETAILS }]),
      ...(asked.size > 0
        ? [
            lookUp(follows, 'follows', [
              { $match: { followerId: userId, refId: { $in: [...asked] } } },
              { $project: FOLLOW_FIELDS },
            ]),
          ]
        : []),
      lookUp(items, 'entries', [
        { $match: pageFilter(query) },
        { $sort: IN_FEED_ORDER },
        { $limit: limit },
        { $project: ENTRY_FIELDS },
      ]),
      // All at once: looked up entry by entry they take the database twice as long.
      lookUpAll(actions, 'revisions', 'entries.actionId', { rev: 1 }),
      // After the entries: an action moved from pushed to pulled meanwhile is found here.
      ...(guessed === null
        ? []
        : [
            lookUp(actions, 'pulled', [
              { $match: pulledIn(guessed.refIds, { above: guessed.above, upTo: null }) },
              { $limit: MOST_GUESSED + 1 },
            ]),
          ]),
      ...(beside === null ? [] : besideStages(beside, userId, { name: items, idOf: idOfEntry(userId) })),
    ];
    const [bytes] = await feeds.aggregate<Uint8Array>(pipeline, { raw: true }).toArray();
    if (bytes === undefined) return null;
    let page: OpenedPage | undefined;
    let print: string | undefined;
    return {
      print: () => (refIds.size > MOST_PULLED ? null : (print ??= printOf(bytes, beside))),
      read: () => (page ??= decode(BSON.deserialize(bytes, RAW_LISTS) as OpenedDocument)),
    };

    function decode(opened: OpenedDocument): OpenedPage {
      const [member] = opened.members;
      const { follows: plain = [] } = opened;
      const found = plain.map(toFollow);
      const ahead = guessed === null ? null : aheadOf(opened, { guess: guessed, follows: found, asked });
      let entries: FeedEntry[] | undefined;
      let read: FoundBeside | undefined;
      return {
        floor: null,
        // Not needed of an answer from which a page was made before.
        get entries() {
          return (entries ??= decodeEntries(opened));
        },
        get beside() {
          if (beside === null) return null;
          const of = { asked: beside, userId, entries: this.entries, follows: plain };
          return (read ??= besideIn(opened, of));
        },
        reader: {
          asOf,
          marks: toMarks(opened, epoch),
          member: member === undefined ? null : toMember(member),
          directoryStamp: opened.directory[0]?.stamp ?? NEVER_STAMPED,
          ...(refIds.size > MOST_PULLED
            ? {}
            : { pulledFollows: found.filter(({ refId }) => refIds.has(refId)) }),
        },
        ...(ahead === null ? {} : { pulled: ahead }),
      };
    }
  };
}

/** Documents in BSON. */
interface RawLists {
  /** Entries with the fields of `ENTRY_FIELDS`. */
  readonly entries: readonly Buffer[];
  /** Revisions of the actions of the entries, unordered. */
  readonly revisions: readonly Buffer[];
}

/** Most of an answer. The driver takes four times as long to decode it. */
const RAW_LISTS = { fieldsAsRaw: { entries: true, revisions: true } };

const ID_BYTES = 12;
/** Bytes of a type and a name before the value of a field. */
const before = (name: string): number => 1 + name.length + 1;
const AT_ID = 4 + before('_id');
const AT_REV = AT_ID + ID_BYTES + before('rev');
const AT_ACTION_ID = 4 + before('actionId');
const AT_RELEVANCY = AT_ACTION_ID + ID_BYTES + before('relevancy');
const AT_REASONS = AT_RELEVANCY + 8 + before('reasons');
const OBJECT_ID = 0x07;
const DATE = 0x09;
const DOUBLE = 0x01;

/** Entries with the revisions of their actions. What is not laid out as usual is left to the driver. */
export function decodeEntries({ entries, revisions }: RawLists): FeedEntry[] {
  const revs = new Map<ActionId, number>();
  for (const raw of revisions) {
    const isUsual = raw[4] === OBJECT_ID && raw[AT_ID + ID_BYTES] === DOUBLE;
    if (isUsual) revs.set(raw.toString('hex', AT_ID, AT_ID + ID_BYTES), raw.readDoubleLE(AT_REV));
    else {
      const { _id, rev } = BSON.deserialize(raw) as Pick<ActionDocument, '_id' | 'rev'>;
      revs.set(_id.toHexString(), rev);
    }
  }
  return entries.map((raw) => {
    const isUsual = raw[4] === OBJECT_ID && raw[AT_ACTION_ID + ID_BYTES] === DATE;
    const { actionId, relevancy, reasons } = isUsual
      ? decodeEntry(raw)
      : toEntry(BSON.deserialize(raw) as FeedEntryDocument);
    const rev = revs.get(actionId);
    return rev === undefined ? { actionId, relevancy, reasons } : { actionId, relevancy, reasons, rev };
  });
}

/** Without a slice or a big integer for each, which take longer than all else. */
function decodeEntry(raw: Buffer): FeedEntry {
  return {
    actionId: raw.toString('hex', AT_ACTION_ID, AT_ACTION_ID + ID_BYTES),
    relevancy: new Date(raw.readUInt32LE(AT_RELEVANCY) + raw.readInt32LE(AT_RELEVANCY + 4) * 2 ** 32),
    reasons: decodeReasons(raw),
  };
}

/** Lists of one reason by their bytes: most entries have such a list. */
const SINGLE_REASONS: ReadonlyMap<string, readonly DeliveryReason[]> = new Map(
  DELIVERY_REASONS.map((reason) => [Buffer.from(BSON.serialize({ 0: reason })).toString('latin1'), [reason]]),
);

function decodeReasons(raw: Buffer): FeedEntry['reasons'] {
  const single = SINGLE_REASONS.get(raw.toString('latin1', AT_REASONS, raw.length - 1));
  return single ?? (Object.values(BSON.deserialize(raw.subarray(AT_REASONS, -1))) as FeedEntry['reasons']);
}

const NO_REFS: ReadonlySet<RefId> = new Set();

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

function printOf(bytes: Uint8Array, beside: Beside | null): string {
  const print = hash('sha1', bytes, 'base64');
  return beside === null ? print : hash('sha1', `${print} ${nameOfBeside(beside)}`, 'base64');
}
