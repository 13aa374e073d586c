import { createHash } from 'node:crypto';
import { BSON, ObjectId, type Document, type WithId } from 'mongodb';
import type { Action, ActionId, RefId, UserId } from '../../../../src/domain/action.ts';
import type { Member } from '../../../../src/domain/member.ts';
import type { Follow } from '../../../../src/domain/viewer.ts';
import { notifiedKey, userKey } from '../../../../src/domain/audience.ts';
import { blockTag } from '../../../../src/domain/block.ts';
import {
  namedSince,
  type NamingAction,
  type NotificationEvent,
  type NotificationKind,
  type ParsedKey,
} from '../../../../src/domain/notification.ts';
import { INTERACTION_KINDS, MAX_LATE_MS, type InteractionKind } from '../../../../src/domain/relevancy.ts';
import type { ReaderMarks } from '../../../../src/feed/store/feeds.ts';
import { clock } from '../../../../src/lib/clock.ts';
import { inTurns } from '../../../../src/storage/database/batches.ts';
import { toAction } from '../../../../src/storage/actions/action-document.ts';
import type { ActionDocument } from '../../../../src/storage/documents/documents.ts';
import type { Collections } from '../../../../src/storage/documents/declaration.ts';
import type { Repositories } from '../../../../src/storage/repositories.ts';
import type { FeedDocument } from '../../../../src/storage/documents/reader-documents.ts';
import { literal } from '../../../../src/storage/stages/revision.ts';
import { WITHOUT_DETAILS } from '../../../../src/storage/documents/member-document.ts';
import { NEVER_STAMPED } from '../../../../src/storage/stamps/directory-stamps.ts';
import type { ThreadDocument } from '../../../../src/features/interactions/store/threads.ts';
import type { ReaderActionId } from '../../../../src/storage/documents/reader-action-id.ts';
import { toMember, type PlainMember } from '../../../../src/storage/documents/member-document.ts';
import {
  FOLLOW_FIELDS,
  toFollow,
  type PlainFollow,
} from '../../../../src/storage/documents/follow-document.ts';
import {
  isPairKind,
  KINDS_TO,
  newestOfPairs,
  pairsOf,
  pairsTo,
  timeOfPair,
  toPairRow,
  united,
  visibleOf,
  type Branch,
  type Pair,
  type PairDocument,
  type PairRow,
  type PairToRead,
} from './pairs.ts';
import {
  notificationStates,
  toState,
  type NotificationState,
  type NotificationStateDocument,
} from './states.ts';

/** Where a source goes on: at or before this time, without the documents there that are known. */
export interface SourcePlace {
  readonly before: Date;
  readonly except: readonly string[];
}

/** Sources of notifications, each in an order of time of its own. */
export const SOURCES = ['owned', 'own', 'named', 'edited', 'to', 'threads', 'followers', 'assigned'] as const;
export type Source = (typeof SOURCES)[number];

/** A document of a source. */
export interface SourceRow {
  readonly id: string;
  readonly source: Source;
  /** The time that the source is ordered by; of actions it may be below the time of their event by `MAX_LATE_MS`. */
  readonly time: Date;
  /** `null`: an action of the reader, of which nothing is said but that it is there. */
  readonly event: RowEvent | null;
  /** Of the document, if it is an action. */
  readonly rev: number | null;
  /** Of an action of the reader: changes with each of its interactions. */
  readonly version: number | null;
  /** Possible interactions of others with it. */
  readonly pairs: readonly PairToRead[];
}

interface RowEvent extends NotificationEvent {
  readonly kind: NotificationKind;
  /** The key by which entries form groups: the action, the day, or the assignment. */
  readonly of: string | Date;
  readonly refId: RefId | null;
}

/** Only these groups. */
export type Only = readonly ParsedKey[] | null;

export interface SourceQuery {
  readonly userId: UserId;
  /** Start of the window. */
  readonly since: Date;
  /** Most documents of each of these sources, and where they go on. */
  readonly from: ReadonlyMap<Source, { readonly limit: number; readonly place: SourcePlace | null }>;
  readonly only: Only;
}

export interface OpenedNotifications {
  /** Digest of the answer of the database. */
  readonly print: string;
  /** The first documents of each source; decoded when they are needed. */
  readonly sources: () => SourcesRead;
  readonly reader: {
    /** A time before the read. */
    readonly asOf: Date;
    readonly marks: ReaderMarks;
    readonly member: Member | null;
    readonly directoryStamp: number;
    readonly pulledFollows: readonly Follow[];
  };
  readonly state: NotificationState;
}

export interface SourcesRead {
  /** In the order of their times. */
  readonly rows: readonly SourceRow[];
  readonly pairs: readonly PairRow[];
  readonly actions?: readonly Action[];
}

/** Read together with the next documents of sources. */
export interface ReadBeside {
  readonly pairs: readonly PairToRead[];
  /** Actions in full. */
  readonly actionIds: readonly ActionId[];
}

export const NOTHING_BESIDE: ReadBeside = { pairs: [], actionIds: [] };

const DAY_MS = 86_400_000;

/** The field that a source is ordered by. */
const TIME_OF = {
  ...{ owned: 'shownAt', own: 'latest', named: 'latest', edited: 'namedAt', to: 'shownAt', threads: 'at' },
  ...{ followers: 'openedAt', assigned: 'assignedAt' },
} as const satisfies Readonly<Record<Source, string>>;

/** How much later than its place in the source something may have become visible. */
export const lateness = (source: Source): number =>
  source === 'own' || source === 'named' ? MAX_LATE_MS : 0;

function timeIn(source: Source, { since }: SourceQuery, place: SourcePlace | null): Document {
  const field = TIME_OF[source];
  if (place === null) return { [field]: { $gte: since } };
  const except = place.except.map((id) => new ObjectId(id));
  const id = source === 'threads' ? '_id.actionId' : '_id';
  return {
    [field]: { $gte: since, $lte: place.before },
    ...(except.length === 0 ? {} : { [id]: { $nin: except } }),
  };
}

/** The kinds of events that a source leads to. */
export const KINDS_IN: Readonly<Record<Source, readonly NotificationKind[]>> = {
  owned: INTERACTION_KINDS,
  own: INTERACTION_KINDS,
  named: ['MENTION', 'OWN'],
  edited: ['MENTION', 'OWN'],
  to: KINDS_TO,
  threads: KINDS_TO,
  followers: ['FOLLOW'],
  assigned: ['ASSIGNED'],
};

/** The kinds of groups that a source has events of, and can be asked for by what they are about. */
const KINDS_OF: Readonly<Record<Source, readonly NotificationKind[]>> = {
  owned: [],
  own: [],
  named: ['MENTION', 'OWN'],
  edited: ['MENTION', 'OWN'],
  to: [],
  threads: [],
  followers: ['FOLLOW'],
  assigned: ['ASSIGNED'],
};

function idsOf(only: readonly ParsedKey[], source: Source): string[] {
  return [...new Set(only.flatMap(({ kind, of }) => (KINDS_OF[source].includes(kind) ? [of] : [])))];
}

/** Only documents of the groups that are wanted. */
function among(field: string, source: Source, { only }: SourceQuery): Document[] {
  return only === null ? [] : [{ [field]: { $in: idsOf(only, source).map((id) => new ObjectId(id)) } }];
}

const VISIBLE = { isDeleted: false, isHidden: false } as const;

const tag = (source: string): Document => ({ source: { $literal: source } });

type Asked = Readonly<{ conditions: readonly Document[]; limit: number; fields: Document }>;

/** The source is said in the same stage, and nothing is renamed: a further stage takes the local engine longer. */
const newest = (source: Source, { conditions, limit, fields }: Asked): Document[] => [
  { $match: { $and: conditions } },
  { $sort: { [TIME_OF[source]]: -1 } },
  { $limit: limit },
  { $project: { [TIME_OF[source]]: 1, ...fields, ...tag(source) } },
];

type Pipeline = (limit: number, place: SourcePlace | null) => Document[];

/** Each in one range of an index, newest first. */
function pipelinesOf(query: SourceQuery): Readonly<Record<Source, Pipeline>> {
  const { userId } = query;
  return {
    owned: (limit, place) =>
      newest('owned', {
        conditions: [{ ownerId: { $eq: userId, $exists: true }, state: null }, timeIn('owned', query, place)],
        fields: { actionId: 1, kind: 1, actorId: 1 },
        limit,
      }),
    own: (limit, place) =>
      newest('own', {
        conditions: [
          // The actor is among the refs, by which bumped actions are found.
          { refIds: userId, actorId: userId, isBumped: true, ...VISIBLE },
          timeIn('own', query, place),
        ],
        // The version changes with each of its interactions.
        fields: { rev: 1, engagement: 1, 'fanOut.version': 1 },
        limit,
      }),
    named: naming('named', query),
    edited: naming('edited', query),
    to: (limit, place) =>
      newest('to', {
        conditions: [
          { to: { $eq: userId, $exists: true }, state: null, actorId: { $ne: userId } },
          timeIn('to', query, place),
        ],
        fields: {
          ...{ actionId: 1, actorId: 1 },
          isMention: { $in: [literal(userId), { $ifNull: ['$mentions', []] }] },
        },
        limit,
      }),
    threads: (limit, place) =>
      newest('threads', {
        conditions: [{ '_id.userId': userId }, timeIn('threads', query, place)],
        fields: { mentions: 1, replies: 1 },
        limit,
      }),
    followers: (limit, place) =>
      newest('followers', {
        conditions: [
          { refId: userId, followerId: { $ne: userId }, active: true },
          timeIn('followers', query, place),
          ...onDays(query),
        ],
        fields: { followerId: 1 },
        limit,
      }),
    assigned: (limit, place) =>
      newest('assigned', {
        conditions: [
          { followerId: userId },
          timeIn('assigned', query, place),
          ...among('_id', 'assigned', query),
        ],
        fields: { refId: 1 },
        limit,
      }),
  };
}

/** Actions that name the reader: all of them, or those that an edit has made to. */
function naming(source: 'named' | 'edited', query: SourceQuery): Pipeline {
  const { userId } = query;
  return (limit, place) =>
    newest(source, {
      conditions: [
        { audience: { $in: [userKey(userId), notifiedKey(userId)] }, ...VISIBLE },
        { actorId: { $ne: userId }, notFor: { $ne: blockTag(userId) } },
        timeIn(source, query, place),
        ...among('_id', source, query),
      ],
      fields: {
        ...{ actorId: 1, rev: 1, conducted: 1, recorded: 1, shownAt: 1 },
        isOwn: { $in: [literal(notifiedKey(userId)), '$audience'] },
        concerned: {
          $filter: {
            input: { $ifNull: ['$concerned', []] },
            as: 'one',
            cond: { $eq: ['$$one.key', literal(userKey(userId))] },
          },
        },
      },
      limit,
    });
}

function onDays({ only }: SourceQuery): Document[] {
  if (only === null) return [];
  const days = idsOf(only, 'followers').map((day) => Date.parse(day));
  return [{ $or: days.map((day) => ({ openedAt: { $gte: new Date(day), $lt: new Date(day + DAY_MS) } })) }];
}

type Row = Document & {
  readonly _id: ObjectId | ReaderActionId;
  readonly source: Source;
  readonly rev?: number;
  readonly actorId?: UserId;
};

/** A union keeps no order. */
function newestFirst(rows: readonly Row[]): SourceRow[] {
  return rows.map(toRow).sort((a, b) => b.time.getTime() - a.time.getTime());
}

function toRow(row: Row): SourceRow {
  const { source, rev = null } = row;
  const id = (row._id instanceof ObjectId ? row._id : row._id.actionId).toHexString();
  const time = row[TIME_OF[source]] as Date;
  const { engagement, fanOut } = row as Partial<Pick<ActionDocument, 'engagement' | 'fanOut'>>;
  const pairs =
    source === 'threads'
      ? pairsTo(id, row as Pick<ThreadDocument, 'mentions' | 'replies'>)
      : engagement === undefined
        ? []
        : pairsOf(id, engagement);
  return { id, source, time, rev, version: fanOut?.version ?? null, pairs, event: eventOf(row, id, time) };
}

function eventOf(row: Row, id: string, time: Date): RowEvent | null {
  const { source, actorId = null } = row;
  const event = { id, actorId, at: time, interactionId: null, refId: null };
  const ofAction = (): string => (row['actionId'] as ObjectId).toHexString();
  switch (source) {
    case 'owned':
      return { ...event, kind: row['kind'] as InteractionKind, of: ofAction(), interactionId: id };
    case 'own':
    case 'threads':
      return null;
    case 'named':
    case 'edited': {
      const { isOwn, concerned, ...times } = row as unknown as NamedRow;
      const at = namedSince(times, concerned[0]?.since);
      return { ...event, kind: isOwn ? 'OWN' : 'MENTION', of: id, at };
    }
    case 'to':
      return {
        ...event,
        kind: row['isMention'] === true ? 'MENTION' : 'REPLY',
        of: ofAction(),
        interactionId: id,
      };
    case 'followers':
      return { ...event, kind: 'FOLLOW', of: time, actorId: row['followerId'] as UserId };
    case 'assigned':
      return { ...event, kind: 'ASSIGNED', of: id, refId: row['refId'] as RefId };
  }
}

interface NamedRow extends NamingAction {
  readonly isOwn: boolean;
  readonly concerned: readonly { readonly since?: Date }[];
}

const SOURCE = Buffer.from('\x02source\0');

/** The last field of a document, which says what it was read from. */
function sourceOf(bytes: Buffer): string {
  const at = bytes.lastIndexOf(SOURCE) + SOURCE.length;
  // The length, the text, and a zero after it and after the document.
  return bytes.toString('utf8', at + 4, bytes.length - 2);
}

/** Documents in one answer. The largest is some kilobytes. */
const BATCH = 5_000;

export function notificationsOf({ collections, feeds }: Repositories) {
  return { ...notificationReads(collections, feeds.marksIn), ...notificationStates(collections) };
}

/** Reads what notifications are made of. */
function notificationReads(collections: Collections, marksIn: Repositories['feeds']['marksIn']) {
  const { actions, directoryStamps, feeds, follows, interactions, members, notificationStates } = collections;
  const { threads } = collections;
  const collectionOf = {
    ...{ owned: interactions, own: actions, named: actions, edited: actions, to: interactions },
    ...{ threads, followers: follows, assigned: follows },
  } as const;

  const tagged = (coll: string, source: string, pipeline: readonly Document[]): Branch => ({
    coll,
    pipeline: [...pipeline, { $addFields: tag(source) }],
  });

  function sourcesOf(query: SourceQuery): Branch[] {
    const pipelines = pipelinesOf(query);
    return [...query.from].flatMap(([source, { limit, place }]) => {
      // The groups that are wanted may be of other kinds.
      if (query.only?.every(({ kind }) => !KINDS_OF[source].includes(kind)) === true) return [];
      return [{ coll: collectionOf[source].collectionName, pipeline: pipelines[source](limit, place) }];
    });
  }

  function pairsIn({ only }: SourceQuery): PairToRead[] {
    return (only ?? []).flatMap(({ kind, of }) => {
      // How many there are is not known.
      return isPairKind(kind) ? [{ actionId: of, kind, count: Infinity }] : [];
    });
  }

  function besides(query: SourceQuery, { pairs, actionIds }: ReadBeside): Branch[] {
    const coll = interactions.collectionName;
    return [
      ...(pairs.length === 0 ? [] : [tagged(coll, 'pair', newestOfPairs(coll, pairs, query))]),
      ...(actionIds.length === 0
        ? []
        : [
            tagged(actions.collectionName, 'action', [
              { $match: { _id: { $in: actionIds.map((id) => new ObjectId(id)) } } },
            ]),
          ]),
    ];
  }

  const pairsAmong = (documents: readonly Document[]): PairRow[] =>
    documents
      .filter((document) => document['source'] === 'pair')
      .map((document) => toPairRow(document as unknown as PairDocument));

  const isOfSource = (row: Document): row is Row => SOURCES.some((source) => source === row['source']);

  return {
    /**
     * Reads in one command what a page needs: the stamp of the directory, then the member, the reader's marks, those of their
     * notifications, and the first documents of each source. Indexes `owned`, `source_bumped`, `audience`, `audience_named`, `to`,
     * `opened`, `assigned_at`, and `_id` of the others.
     * @param pulledRefs refs of which the reader's follows are wanted as well.
     */
    async open(query: SourceQuery, pulledRefs: readonly RefId[]): Promise<OpenedNotifications> {
      const { userId } = query;
      const asOf = clock.now();
      const { pipeline } = united([
        // Read before all names: none may be older than the stamp it is cached under.
        tagged(directoryStamps.collectionName, 'directory', [
          { $match: { _id: 'directory' } },
          { $project: { stamp: 1 } },
        ]),
        tagged(members.collectionName, 'member', [
          { $match: { _id: userId } },
          { $project: WITHOUT_DETAILS },
        ]),
        tagged(feeds.collectionName, 'feed', [{ $match: { _id: userId } }]),
        tagged(notificationStates.collectionName, 'state', [{ $match: { _id: userId } }]),
        ...(pulledRefs.length === 0
          ? []
          : [
              tagged(follows.collectionName, 'pulled', [
                { $match: { followerId: userId, refId: { $in: [...pulledRefs] } } },
                { $project: FOLLOW_FIELDS },
              ]),
            ]),
        ...sourcesOf(query),
        ...besides(query, { pairs: pairsIn(query), actionIds: [] }),
      ]);
      const raw = await inTurns(
        directoryStamps.aggregate<Buffer>([...pipeline], { batchSize: BATCH, raw: true }),
      );
      const sources = raw.map(sourceOf);
      const allOf = (source: string): Document[] =>
        raw.filter((_bytes, index) => sources[index] === source).map((bytes) => BSON.deserialize(bytes));
      const of = (source: string): unknown => allOf(source)[0];
      const member = of('member') as PlainMember | undefined;
      return {
        print: raw.reduce((hash, bytes) => hash.update(bytes), createHash('sha1')).digest('base64'),
        sources: () => ({
          rows: newestFirst(SOURCES.flatMap(allOf) as Row[]),
          pairs: allOf('pair').map((document) => toPairRow(document as PairDocument)),
        }),
        reader: {
          asOf,
          marks: marksIn((of('feed') as FeedDocument | undefined) ?? null),
          member: member === undefined ? null : toMember(member),
          directoryStamp: (of('directory') as { stamp: number } | undefined)?.stamp ?? NEVER_STAMPED,
          pulledFollows: allOf('pulled').map((document) => toFollow(document as PlainFollow)),
        },
        state: toState((of('state') as NotificationStateDocument | undefined) ?? null),
      };
    },

    /**
     * The next documents of sources, the newest of pairs, and actions. One command; indexes `list`, `mentioning`, `replying` for the pairs.
     */
    async readOn(query: SourceQuery, beside: ReadBeside): Promise<SourcesRead> {
      const branches = [...sourcesOf(query), ...besides(query, beside)];
      if (branches.length === 0) return { rows: [], pairs: [] };
      const { coll, pipeline } = united(branches);
      const base = Object.values(collectionOf).find(({ collectionName }) => collectionName === coll);
      const found = await inTurns((base ?? actions).aggregate([...pipeline], { batchSize: BATCH }));
      const read = found.filter((document) => document['source'] === 'action');
      return {
        rows: newestFirst(found.filter(isOfSource)),
        pairs: pairsAmong(found),
        actions: read.map((document) => toAction(document as WithId<ActionDocument>)),
      };
    },

    /**
     * The newest visible interactions of a kind with an action, without those of some members and those that concern the
     * reader more than this. Indexes `list`, `mentioning`, `replying`.
     */
    async interactionsOf(
      userId: UserId,
      { actionId, kind }: Pair,
      options: { readonly without: readonly UserId[]; readonly since: Date; readonly limit: number },
    ): Promise<readonly { readonly id: string; readonly actorId: UserId; readonly at: Date }[]> {
      const { without, since, limit } = options;
      const found = await inTurns(
        interactions
          .find({
            ...{ actionId: new ObjectId(actionId), ...visibleOf(kind, userId) },
            ...{ actorId: { $nin: [userId, ...without] }, [timeOfPair(kind)]: { $gte: since } },
          })
          .sort({ [timeOfPair(kind)]: -1, _id: -1 })
          .project<{ _id: ObjectId; actorId: UserId; shownAt: Date }>({ actorId: 1, shownAt: 1 })
          .limit(limit)
          .batchSize(limit),
      );
      return found.map(({ _id, actorId, shownAt: at }) => ({ id: _id.toHexString(), actorId, at }));
    },
  };
}
