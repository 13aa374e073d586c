import { ObjectId, type Document } from 'mongodb';
import type { RefId, UserId } from '../../../../src/domain/action.ts';
import type { Member } from '../../../../src/domain/member.ts';
import type { Follow } from '../../../../src/domain/viewer.ts';
import { notifiedKey, userKey } from '../../../../src/domain/audience.ts';
import { MAX_COUNTED, type NotificationKind, type ParsedKey } from '../../../../src/domain/notification.ts';
import { INTERACTION_KINDS, baseRelevancy, type InteractionKind } from '../../../../src/domain/relevancy.ts';
import type { ReaderMarks } from '../../../../src/feed/store/feeds.ts';
import { clock } from '../../../../src/lib/clock.ts';
import { inTurns } from '../../../../src/storage/database/batches.ts';
import type { Collections } from '../../../../src/storage/documents/declaration.ts';
import type { Repositories } from '../../../../src/storage/repositories.ts';
import type { FeedDocument } from '../../../../src/storage/documents/reader-documents.ts';
import { literal } from '../../../../src/storage/stages/revision.ts';
import { WITHOUT_DETAILS } from '../../../../src/features/directory/store/details.ts';
import { NEVER_STAMPED } from '../../../../src/features/directory/store/directory-stamps.ts';
import { toMember, type PlainMember } from '../../../../src/features/directory/store/members.ts';
import {
  FOLLOW_FIELDS,
  toFollow,
  type PlainFollow,
} from '../../../../src/features/follow/store/follow-reads.ts';
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
export const SOURCES = ['own', 'named', 'edited', 'to', 'followers', 'assigned'] as const;
export type Source = (typeof SOURCES)[number];

interface Counted {
  readonly _id: ObjectId;
  readonly actorId: UserId;
  readonly at: Date;
}

/** A document of a source. `time`: what the source is ordered by, and not below the times of its events. */
export type SourceRow = { readonly id: string; readonly time: Date } & (
  | { readonly source: 'own'; readonly lists: Readonly<Record<InteractionKind, readonly Counted[]>> }
  | {
      readonly source: 'named' | 'edited';
      readonly actorId: UserId;
      readonly at: Date;
      readonly isOwn: boolean;
    }
  | {
      readonly source: 'to';
      readonly actionId: string;
      readonly actorId: UserId;
      readonly isMention: boolean;
    }
  | { readonly source: 'followers'; readonly followerId: UserId }
  | { readonly source: 'assigned'; readonly refId: RefId }
);

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
  readonly reader: {
    /** A time before the read. */
    readonly asOf: Date;
    readonly marks: ReaderMarks;
    readonly member: Member | null;
    readonly directoryStamp: number;
    readonly pulledFollows: readonly Follow[];
  };
  readonly state: NotificationState;
  readonly rows: readonly SourceRow[];
}

/** One more than is counted. */
export const MOST_EVENTS = MAX_COUNTED + 1;

const DAY_MS = 86_400_000;

function timeIn(field: string, { since }: SourceQuery, place: SourcePlace | null): Document {
  if (place === null) return { [field]: { $gte: since } };
  const except = place.except.map((id) => new ObjectId(id));
  return {
    [field]: { $gte: since, $lte: place.before },
    ...(except.length === 0 ? {} : { _id: { $nin: except } }),
  };
}

/** The kinds of groups that a source has events of. */
const KINDS_OF: Readonly<Record<Source, readonly NotificationKind[]>> = {
  own: INTERACTION_KINDS,
  named: ['MENTION', 'OWN'],
  edited: ['MENTION', 'OWN'],
  to: ['MENTION', 'REPLY'],
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

const newest = (field: string, conditions: readonly Document[], limit: number): Document[] => [
  { $match: { $and: conditions } },
  { $sort: { [field]: -1 } },
  { $limit: limit },
];

type Pipeline = (limit: number, place: SourcePlace | null) => Document[];

/** Each in one range of an index, newest first. */
function pipelinesOf({ interactions }: Collections, query: SourceQuery): Readonly<Record<Source, Pipeline>> {
  const { userId } = query;
  return {
    own: (limit, place) => [
      ...newest(
        'latest',
        [
          ...(query.only === null
            ? [
                // The actor is among the refs, by which bumped actions are found.
                { refIds: userId, actorId: userId, isBumped: true, ...VISIBLE },
                timeIn('latest', query, place),
              ]
            : // Found by id: an interaction is written before the action says that it has any.
              [{ actorId: userId, ...VISIBLE }, ...(place === null ? [] : [timeIn('latest', query, place)])]),
          ...among('_id', 'own', query),
        ],
        limit,
      ),
      { $project: { time: '$latest' } },
      ...INTERACTION_KINDS.map((kind) => newestOfKind(interactions.collectionName, kind, query)),
    ],
    named: naming('named', 'latest', query),
    edited: naming('edited', 'editedAt', query),
    to: (limit, place) => [
      ...newest(
        'at',
        [
          { to: { $eq: userId, $exists: true }, state: null, actorId: { $ne: userId } },
          timeIn('at', query, place),
          ...among('actionId', 'to', query),
        ],
        limit,
      ),
      {
        $project: {
          ...{ actionId: 1, actorId: 1, time: '$at' },
          isMention: { $in: [literal(userId), { $ifNull: ['$mentions', []] }] },
        },
      },
    ],
    followers: (limit, place) => [
      ...newest(
        'openedAt',
        [{ refId: userId, followerId: { $ne: userId } }, timeIn('openedAt', query, place), ...onDays(query)],
        limit,
      ),
      { $project: { followerId: 1, time: '$openedAt' } },
    ],
    assigned: (limit, place) => [
      ...newest(
        'assignedAt',
        [{ followerId: userId }, timeIn('assignedAt', query, place), ...among('_id', 'assigned', query)],
        limit,
      ),
      { $project: { refId: 1, time: '$assignedAt' } },
    ],
  };
}

/** The newest visible interactions of a kind with an action, without those that concern the reader more than this. */
function newestOfKind(from: string, kind: InteractionKind, { userId, since }: SourceQuery): Document {
  return {
    $lookup: {
      ...{ from, localField: '_id', foreignField: 'actionId', as: kind },
      pipeline: [
        {
          $match: {
            kind,
            state: null,
            actorId: { $ne: userId },
            to: { $ne: userId },
            at: { $gte: since },
          },
        },
        { $sort: { at: -1, _id: -1 } },
        { $limit: MOST_EVENTS },
        { $project: { actorId: 1, at: 1 } },
      ],
    },
  };
}

/** Actions that name the reader: all of them, or those that an edit has made to. */
function naming(source: 'named' | 'edited', field: string, query: SourceQuery): Pipeline {
  const { userId } = query;
  return (limit, place) => [
    ...newest(
      field,
      [
        {
          audience: { $in: [userKey(userId), notifiedKey(userId)] },
          ...(source === 'edited' ? { concerned: { $exists: true } } : {}),
          ...VISIBLE,
        },
        { actorId: { $ne: userId } },
        timeIn(field, query, place),
        ...among('_id', source, query),
      ],
      limit,
    ),
    {
      $project: {
        ...{ actorId: 1, conducted: 1, recorded: 1, time: `$${field}` },
        isOwn: { $in: [literal(notifiedKey(userId)), '$audience'] },
        concerned: {
          $filter: {
            input: { $ifNull: ['$concerned', []] },
            as: 'one',
            cond: { $eq: ['$$one.key', literal(userKey(userId))] },
          },
        },
      },
    },
  ];
}

function onDays({ only }: SourceQuery): Document[] {
  if (only === null) return [];
  const days = idsOf(only, 'followers').map((day) => Date.parse(day));
  return [{ $or: days.map((day) => ({ openedAt: { $gte: new Date(day), $lt: new Date(day + DAY_MS) } })) }];
}

type Row = Document & { readonly _id: ObjectId; readonly source: Source; readonly time: Date };

/** A union keeps no order. */
function newestFirst(rows: readonly Row[]): SourceRow[] {
  return rows.map(toRow).sort((a, b) => b.time.getTime() - a.time.getTime());
}

function toRow(row: Row): SourceRow {
  const { source, time } = row;
  const common = { id: row._id.toHexString(), time };
  switch (source) {
    case 'own':
      return {
        ...common,
        source,
        lists: Object.fromEntries(INTERACTION_KINDS.map((kind) => [kind, row[kind]])) as Record<
          InteractionKind,
          readonly Counted[]
        >,
      };
    case 'named':
    case 'edited': {
      const { actorId, isOwn, conducted, recorded, concerned } = row as unknown as NamedRow;
      const [named] = concerned;
      return {
        ...common,
        source,
        actorId,
        isOwn,
        at: named?.since ?? baseRelevancy({ conducted, recorded }),
      };
    }
    case 'to':
      return {
        ...common,
        source,
        actionId: (row['actionId'] as ObjectId).toHexString(),
        actorId: row['actorId'] as UserId,
        isMention: row['isMention'] as boolean,
      };
    case 'followers':
      return { ...common, source, followerId: row['followerId'] as UserId };
    case 'assigned':
      return { ...common, source, refId: row['refId'] as RefId };
  }
}

interface NamedRow {
  readonly actorId: UserId;
  readonly isOwn: boolean;
  readonly conducted: Date;
  readonly recorded: Date;
  readonly concerned: readonly { readonly since?: Date }[];
}

/** Documents in one answer. The largest is some kilobytes. */
const BATCH = 5_000;

export function notificationsOf({ collections, feeds }: Repositories) {
  return { ...notificationReads(collections, feeds.marksIn), ...notificationStates(collections) };
}

/** Reads what notifications are made of. */
function notificationReads(collections: Collections, marksIn: Repositories['feeds']['marksIn']) {
  const { actions, directoryStamps, feeds, follows, interactions, members, notificationStates } = collections;
  const collectionOf = {
    ...{ own: actions, named: actions, edited: actions, to: interactions },
    ...{ followers: follows, assigned: follows },
  } as const;

  const tagged = (coll: string, source: string, pipeline: readonly Document[]): Document => ({
    $unionWith: { coll, pipeline: [...pipeline, { $addFields: { source: { $literal: source } } }] },
  });

  function sourcesOf(query: SourceQuery): Document[] {
    const pipelines = pipelinesOf(collections, query);
    return [...query.from].flatMap(([source, { limit, place }]) => {
      // The groups that are wanted may be of other kinds.
      if (query.only?.every(({ kind }) => !KINDS_OF[source].includes(kind)) === true) return [];
      return [tagged(collectionOf[source].collectionName, source, pipelines[source](limit, place))];
    });
  }

  const isOfSource = (row: Document): row is Row => SOURCES.some((source) => source === row['source']);

  return {
    /**
     * Reads in one command what a page needs: the stamp of the directory, then the member, the reader's marks, those of their
     * notifications, and the first documents of each source. Indexes `source_bumped` and `list`, `audience`,
     * `audience_edited`, `to`, `opened`, `assigned_at`, and `_id` of the others.
     * @param pulledRefs refs of which the reader's follows are wanted as well.
     */
    async open(query: SourceQuery, pulledRefs: readonly RefId[]): Promise<OpenedNotifications> {
      const { userId } = query;
      const asOf = clock.now();
      const documents = await inTurns(
        directoryStamps.aggregate(
          [
            // Read before all names: none may be older than the stamp it is cached under.
            { $match: { _id: 'directory' } },
            { $project: { stamp: 1, source: { $literal: 'directory' } } },
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
          ],
          { batchSize: BATCH },
        ),
      );
      const of = (source: string): unknown => documents.find((document) => document['source'] === source);
      const member = of('member') as PlainMember | undefined;
      return {
        reader: {
          asOf,
          marks: marksIn((of('feed') as FeedDocument | undefined) ?? null),
          member: member === undefined ? null : toMember(member),
          directoryStamp: (of('directory') as { stamp: number } | undefined)?.stamp ?? NEVER_STAMPED,
          pulledFollows: documents
            .filter((document) => document['source'] === 'pulled')
            .map((document) => toFollow(document as PlainFollow)),
        },
        state: toState((of('state') as NotificationStateDocument | undefined) ?? null),
        rows: newestFirst(documents.filter(isOfSource)),
      };
    },

    /** The next documents of sources. One command. */
    async readOn(query: SourceQuery): Promise<SourceRow[]> {
      const [first, ...others] = sourcesOf(query);
      if (first === undefined) return [];
      const { coll, pipeline } = first['$unionWith'] as { coll: string; pipeline: Document[] };
      const base = Object.values(collectionOf).find(({ collectionName }) => collectionName === coll);
      const rows = await inTurns(
        (base ?? actions).aggregate<Row>([...pipeline, ...others], { batchSize: BATCH }),
      );
      return newestFirst(rows);
    },

    /**
     * The newest visible interactions of a kind with an action, without those of some members and those that concern the
     * reader more than this. Index `list`.
     */
    async interactionsOf(
      userId: UserId,
      { actionId, kind }: { readonly actionId: string; readonly kind: InteractionKind },
      options: { readonly without: readonly UserId[]; readonly since: Date; readonly limit: number },
    ): Promise<readonly { readonly id: string; readonly actorId: UserId; readonly at: Date }[]> {
      const { without, since, limit } = options;
      const found = await inTurns(
        interactions
          .find({
            ...{ actionId: new ObjectId(actionId), kind, state: null as never },
            ...{ actorId: { $nin: [userId, ...without] }, to: { $ne: userId }, at: { $gte: since } },
          })
          .sort({ at: -1, _id: -1 })
          .project<Counted>({ actorId: 1, at: 1 })
          .limit(limit)
          .batchSize(limit),
      );
      return found.map(({ _id, actorId, at }) => ({ id: _id.toHexString(), actorId, at }));
    },
  };
}
