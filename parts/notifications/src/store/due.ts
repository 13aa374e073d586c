import { ObjectId, type Document, type Filter } from 'mongodb';
import type { UserId } from '../../../../src/domain/action.ts';
import { notifiedKey, userKey } from '../../../../src/domain/audience.ts';
import { isPseudonym } from '../../../../src/domain/erasure.ts';
import type { DueNotification, HostEvent, HostEventType } from '../../../../src/domain/host-event.ts';
import { namedSince, notificationKey } from '../../../../src/domain/notification.ts';
import { idsOf, inTurns } from '../../../../src/storage/database/batches.ts';
import {
  type Claiming,
  type Failure,
  type Held,
  leased,
  leaseDue,
} from '../../../../src/storage/database/lease.ts';
import type { Collections } from '../../../../src/storage/documents/declaration.ts';
import type { ActionDocument, InteractionDocument } from '../../../../src/storage/documents/documents.ts';
import type { FollowDocument } from '../../../../src/storage/documents/reader-documents.ts';
import { literal } from '../../../../src/storage/stages/revision.ts';
import { toState, type NotificationState, type NotificationStateDocument } from './states.ts';

/** Older ones tell nobody, such as what is imported. */
const MAX_AGE_MS = 86_400_000;
/** Shortest time between two notifications of a member: what comes within it is gathered, such as the likes of many. */
const NOTIFIED_APART_MS = 60_000;
/** Upper bound on events of a member that wait; the newest are kept. */
const MAX_PENDING = 200;
/** Events of which a member was notified: those of the last day, since they may be noted again, but at least so many. */
const MIN_NOTIFIED = 100;
/** Upper bound on them: all that wait, and those that are moved at once. */
const MAX_NOTIFIED = MAX_PENDING + 500;

/** An event of a notification: its group and its id. */
export const dueKey = (groupKey: string, eventId: string): string => `${groupKey}:${eventId}`;

export function parseDueKey(key: string): { readonly groupKey: string; readonly eventId: string } {
  const end = key.lastIndexOf(':');
  return { groupKey: key.slice(0, end), eventId: key.slice(end + 1) };
}

/** A member who has to be notified of something. */
export interface DueMember extends Held<UserId> {
  /** The events, as `dueKey` has them. The same until they are settled, if an attempt was interrupted. */
  readonly pending: readonly string[];
  readonly state: NotificationState;
}

/** Members with something to be notified of by then. */
export const isNotificationDue = (by: Date): Filter<NotificationStateDocument> => leaseDue('due', by);

/** Of what members have to be notified outside of the list, stored with what they said about their notifications. */
export function dueNotificationsRepository(collections: Collections) {
  const { notificationStates } = collections;
  const leases = leased(notificationStates, 'due');

  return {
    /**
     * Notes whom events concern; they are due at a time, or when they already were. An event is noted once, however often this
     * is repeated. A read of each kind of documents that the events are about, and one write if they concern anybody.
     */
    async note(
      events: readonly HostEvent[],
      { now, dueAt }: { readonly now: Date; readonly dueAt: Date },
    ): Promise<void> {
      const concerned = await concernedBy(collections, events, new Date(now.getTime() - MAX_AGE_MS));
      if (concerned.size === 0) return;
      await notificationStates.bulkWrite(
        Array.from(concerned, ([_id, keys]) => ({
          updateOne: { filter: { _id }, update: noted([...keys], dueAt), upsert: true },
        })),
        { ordered: false },
      );
    },

    /** Claims members who have been due longest. Index `due`. */
    async claimDue(claiming: Claiming, limit: number): Promise<DueMember[]> {
      const documents = await leases.claimSome(claiming, limit, {
        then: [{ $set: { 'due.progress': { $ifNull: ['$due.progress', '$pending'] } } }],
      });
      return documents.map((document) => ({
        ...{ id: document._id, token: claiming.token, pending: document.due?.progress ?? [] },
        state: toState(document),
      }));
    },

    /** Nothing was decided: due again from then on, together with what comes until then. */
    async wait(due: DueMember, until: Date): Promise<void> {
      await notificationStates.updateOne(leases.held(due), [
        {
          $set: {
            'due.due': until,
            'due.owner': '$$REMOVE',
            'due.attempts': { $subtract: ['$due.attempts', 1] },
            // An earlier attempt may have notified the member before it was interrupted.
            'due.progress': { $cond: [{ $gt: ['$due.attempts', 1] }, '$due.progress', '$$REMOVE'] },
          },
        },
      ]);
    },

    /** Due again from then on, since an attempt has failed. */
    release: (due: DueMember, from: Date, failure: Failure) => leases.release(due, from, failure),

    /** The member was notified of these, and will not be notified of the others. What came meanwhile is due at another time. */
    async settle(
      due: DueMember,
      notified: readonly DueNotification[],
      { now, nextAt }: { readonly now: Date; readonly nextAt: Date },
    ): Promise<void> {
      const fresh = notified.flatMap(({ key, eventIds, channels }) =>
        eventIds.map((id) => ({ event: dueKey(key, id), at: now, channels: [...channels] })),
      );
      const left = {
        $filter: { input: '$pending', cond: { $not: [{ $in: ['$$this', literal(due.pending)] }] } },
      };
      await notificationStates.updateOne(leases.held(due), [
        {
          $set: {
            pending: left,
            ...(fresh.length === 0 ? {} : { notified: remembered(fresh, now) }),
          },
        },
        { $set: { due: { $cond: [{ $eq: ['$pending', []] }, '$$REMOVE', { due: atLeastApart(nextAt) }] } } },
        { $set: { pending: { $cond: [{ $eq: ['$pending', []] }, '$$REMOVE', '$pending'] } } },
      ]);
    },
  };
}

function remembered(fresh: readonly object[], now: Date): Document {
  const known = { $ifNull: ['$notified', []] };
  const isRecent = { $gte: ['$$this.at', new Date(now.getTime() - MAX_AGE_MS)] };
  const isNew = { $in: ['$$this', { $slice: [known, -MIN_NOTIFIED] }] };
  const kept = { $filter: { input: known, cond: { $or: [isRecent, isNew] } } };
  return { $slice: [{ $concatArrays: [kept, literal(fresh)] }, -MAX_NOTIFIED] };
}

/** That time, or when the member may be notified again. */
function atLeastApart(at: Date): Document {
  return { $max: [at, { $add: [{ $max: '$notified.at' }, NOTIFIED_APART_MS] }] };
}

function noted(keys: readonly string[], dueAt: Date): Document[] {
  const known = { $concatArrays: [{ $ifNull: ['$pending', []] }, { $ifNull: ['$notified.event', []] }] };
  const fresh = {
    $filter: { input: literal(keys.slice(-MAX_PENDING)), cond: { $not: [{ $in: ['$$this', known] }] } },
  };
  return [
    {
      $set: {
        pending: { $slice: [{ $concatArrays: [{ $ifNull: ['$pending', []] }, fresh] }, -MAX_PENDING] },
      },
    },
    {
      $set: {
        due: {
          $ifNull: ['$due', { $cond: [{ $eq: ['$pending', []] }, '$$REMOVE', { due: atLeastApart(dueAt) }] }],
        },
      },
    },
    { $set: { pending: { $cond: [{ $eq: ['$pending', []] }, '$$REMOVE', '$pending'] } } },
  ];
}

type Concerned = ReadonlyMap<UserId, ReadonlySet<string>>;

/** The members whom the events concern, by what has happened since then and counts now. */
async function concernedBy(
  collections: Collections,
  events: readonly HostEvent[],
  since: Date,
): Promise<Concerned> {
  const concerned = new Map<UserId, Set<string>>();
  const add = (userId: UserId, groupKey: string, eventId: string): void => {
    if (isPseudonym(userId)) return;
    const keys = concerned.get(userId) ?? new Set();
    concerned.set(userId, keys.add(dueKey(groupKey, eventId)));
  };
  const recent = events.filter(({ at }) => at >= since);
  const [interactions, actions, follows] = await Promise.all([
    interactionsOf(collections, recent, since),
    actionsOf(collections, recent),
    followsOf(collections, recent, since),
  ]);
  for (const { _id, actionId, actorId, kind, to = [], mentions = [] } of interactions) {
    const [id, of] = [_id.toHexString(), actionId.toHexString()];
    const owner = actions.get(of)?.actorId;
    if (owner === undefined) continue;
    for (const userId of new Set([...to, owner]))
      if (userId !== actorId) {
        const own = to.includes(userId) ? 'REPLY' : kind;
        add(userId, notificationKey(mentions.includes(userId) ? 'MENTION' : own, of), id);
      }
  }
  for (const event of recent) {
    const { actionId = '' } = event.facts;
    const action = actions.get(actionId);
    if (action !== undefined && (event.type === 'item.delivered' || event.type === 'action.updated'))
      named([actionId, action], event, since, add);
  }
  const isRecent = (at: Date | undefined): at is Date => at !== undefined && at >= since;
  for (const { id, followerId, refId, openedAt, assignedAt, isMember } of follows) {
    if (isMember && isRecent(openedAt) && followerId !== refId)
      add(refId, notificationKey('FOLLOW', openedAt), id);
    if (isRecent(assignedAt)) add(followerId, notificationKey('ASSIGNED', id), id);
  }
  return concerned;
}

type NamingAction = { readonly actorId: UserId; readonly audience: readonly string[]; readonly at: Date } & {
  /** The members whom edits have named, and when. */
  readonly edited: readonly { readonly userId: UserId; readonly at: Date }[];
};

const USER = userKey('');
const NOTIFIED = notifiedKey('');

/** Members whom the action names, if it was delivered or an edit added them. */
function named(
  [actionId, { actorId, audience, at, edited }]: readonly [string, NamingAction],
  { type, facts: { readers = [] } }: HostEvent,
  since: Date,
  add: (userId: UserId, groupKey: string, eventId: string) => void,
): void {
  const keys = new Set(audience);
  const memberIds = edited.flatMap((one) => (one.at >= since ? [one.userId] : []));
  if (type === 'item.delivered' && at >= since) {
    const isNamed = readers.filter(
      ({ reasons }) => reasons.includes('MENTION') || reasons.includes('RECIPIENT'),
    );
    memberIds.push(...isNamed.map(({ memberId }) => memberId));
    memberIds.push(
      ...audience.flatMap((key) => (key.startsWith(NOTIFIED) ? [key.slice(NOTIFIED.length)] : [])),
    );
  }
  for (const userId of new Set(memberIds)) {
    const isOwn = keys.has(notifiedKey(userId));
    if (userId === actorId || !(isOwn || keys.has(userKey(userId)))) continue;
    add(userId, notificationKey(isOwn ? 'OWN' : 'MENTION', actionId), actionId);
  }
}

const ABOUT_ACTIONS: ReadonlySet<HostEventType> = new Set([
  'interaction.recorded',
  'item.delivered',
  'action.updated',
]);

/** Actions that somebody may see, by id. */
async function actionsOf(
  { actions }: Collections,
  events: readonly HostEvent[],
): Promise<ReadonlyMap<string, NamingAction>> {
  const ids = new Set(
    events.flatMap(({ type, facts: { actionId } }) =>
      ABOUT_ACTIONS.has(type) && actionId !== undefined ? [actionId] : [],
    ),
  );
  if (ids.size === 0) return new Map();
  const found = await inTurns(
    actions
      .find({ _id: { $in: Array.from(ids, (id) => new ObjectId(id)) }, isDeleted: false, isHidden: false })
      .project<
        Pick<
          ActionDocument,
          '_id' | 'actorId' | 'audience' | 'conducted' | 'recorded' | 'shownAt' | 'concerned'
        >
      >({ actorId: 1, audience: 1, conducted: 1, recorded: 1, shownAt: 1, concerned: 1 })
      .batchSize(ids.size + 1),
  );
  return new Map(
    found.map(({ _id, actorId, audience, concerned = [], ...times }) => [
      _id.toHexString(),
      {
        ...{ actorId, audience, at: namedSince(times) },
        edited: concerned.flatMap(({ key, since: at }) =>
          at !== undefined && key.startsWith(USER) ? [{ userId: key.slice(USER.length), at }] : [],
        ),
      },
    ]),
  );
}

type RecordedInteraction = Pick<
  InteractionDocument,
  '_id' | 'actionId' | 'actorId' | 'kind' | 'to' | 'mentions'
>;

/** Visible interactions since then. */
async function interactionsOf(
  { interactions }: Collections,
  events: readonly HostEvent[],
  since: Date,
): Promise<readonly RecordedInteraction[]> {
  const recorded = events.flatMap(({ type, facts: { interactionId, actionId } }) =>
    type === 'interaction.recorded' && interactionId !== undefined && actionId !== undefined
      ? [{ id: new ObjectId(interactionId), actionId: new ObjectId(actionId) }]
      : [],
  );
  if (recorded.length === 0) return [];
  return inTurns(
    interactions
      .find({
        _id: { $in: recorded.map(({ id }) => id) },
        actionId: { $in: recorded.map(({ actionId }) => actionId) },
        ...{ state: null as never, shownAt: { $gte: since } },
      })
      .project<RecordedInteraction>({ actionId: 1, actorId: 1, kind: 1, to: 1, mentions: 1 })
      .batchSize(recorded.length + 1),
  );
}

/** Follows that were opened or assigned since then and go on. */
async function followsOf({ follows, members }: Collections, events: readonly HostEvent[], since: Date) {
  const opened = events.flatMap(({ type, facts: { followId, followerId, refId } }) =>
    (type === 'follow.opened' || type === 'follow.assigned') &&
    followId !== undefined &&
    followerId !== undefined &&
    refId !== undefined
      ? [{ id: new ObjectId(followId), followerId, refId }]
      : [],
  );
  if (opened.length === 0) return [];
  const refIds = [...new Set(opened.map(({ refId }) => refId))];
  const [found, people] = await Promise.all([
    inTurns(
      follows
        .find({
          _id: { $in: opened.map(({ id }) => id) },
          followerId: { $in: [...new Set(opened.map(({ followerId }) => followerId))] },
          active: true,
          $or: [{ openedAt: { $gte: since } }, { assignedAt: { $gte: since } }],
        })
        .project<Pick<FollowDocument, '_id' | 'followerId' | 'refId' | 'openedAt' | 'assignedAt'>>({
          ...{ followerId: 1, refId: 1, openedAt: 1, assignedAt: 1 },
        })
        .batchSize(opened.length + 1),
    ),
    idsOf(members.find({ _id: { $in: refIds } }).batchSize(refIds.length + 1)),
  ]);
  const isMember = new Set(people);
  return found.map(({ _id, ...follow }) => ({
    ...{ ...follow, id: _id.toHexString(), isMember: isMember.has(follow.refId) },
  }));
}
