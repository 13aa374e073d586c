import type { Document } from 'mongodb';
import type { UserId } from '../../../../src/domain/action.ts';
import {
  MAX_PREFERENCES,
  NOTIFICATION_WINDOW_MS,
  type Channel,
  type NotificationMarks,
  type NotificationPosition,
  type Preference,
  type PreferenceTarget,
  type QuietHours,
} from '../../../../src/domain/notification.ts';
import { inTurns } from '../../../../src/storage/database/batches.ts';
import { retryOnDuplicateKey } from '../../../../src/storage/database/errors.ts';
import {
  index,
  NOT_OF_ACTIONS,
  type Collections,
  type Declared,
} from '../../../../src/storage/documents/declaration.ts';
import type { LeaseDocument } from '../../../../src/storage/documents/lease-document.ts';
import { literal } from '../../../../src/storage/stages/revision.ts';

/** A member's own settings and marks of their notifications. The notifications themselves are read from what happened. */
export interface NotificationStateDocument {
  _id: string;
  seenAt?: Date;
  readAt?: Date;
  /** Single groups, and up to where they were read, if that is above everything; at most 1,000, the latest marked last. */
  read?: { key: string; at: Date }[];
  preferences?: { kind: string; type?: string; channel: string; isOn: boolean }[];
  quietHours?: { from: string; to: string; timeZone: string; days?: number[] };
  /** Events of which the member may have to be notified by mail or push messages, by group and id; at most 200, the newest last. */
  pending?: string[];
  /** Present while there are any. Its progress: those that the current attempt is about. */
  due?: LeaseDocument<string[]>;
  /** Events of which the member was notified; of the last day, or the latest 100; at most 700, the latest last. */
  notified?: { event: string; at: Date; channels: Channel[] }[];
}

declare module '../../../../src/storage/documents/declaration.ts' {
  interface Documents {
    readonly notificationStates: NotificationStateDocument;
  }
}

export const NOTIFICATION_STATES: Declared<'notificationStates'> = {
  name: 'notificationStates',
  holds: 'how far a member has seen and read their notifications, and how they want to be notified',
  ids: { member: ['_id'] },
  indexes: [
    index('due', { 'due.due': 1 }, 'events for hosts: the next members to be notified', {
      partialFilterExpression: { 'due.due': { $exists: true } },
    }),
  ],
  shard: { key: { _id: 1 }, serves: 'the notifications of a member' },
  erase: 'delete',
  export: [
    {
      section: 'notifications',
      of: '_id',
      entry: ({ seenAt, readAt, read = [], preferences = [], quietHours, pending = [], notified = [] }) => ({
        ...{ seenAt: seenAt ?? null, readAt: readAt ?? null, read, preferences },
        ...{ quietHours: quietHours ?? null, pending, notified },
      }),
    },
  ],
  action: NOT_OF_ACTIONS,
};

/** Upper bound on groups that are read singly. */
const MAX_READ = 1_000;

export interface NotificationState extends NotificationMarks {
  readonly preferences: readonly Preference[];
  readonly quietHours: QuietHours | null;
  /** Events of which the member may have to be notified; see `store/due.ts`. */
  readonly pending: readonly string[];
  /** When it is decided of which; `null`: there are none. */
  readonly dueAt: Date | null;
  readonly notified: readonly {
    readonly event: string;
    readonly at: Date;
    readonly channels: readonly Channel[];
  }[];
}

export function toState(document: NotificationStateDocument | null): NotificationState {
  const { seenAt, readAt, read = [], preferences = [], quietHours } = document ?? {};
  const { pending = [], due, notified = [] } = document ?? {};
  return {
    ...{ seenAt: seenAt ?? null, readAt: readAt ?? null },
    read: new Map(read.map(({ key, at }) => [key, at])),
    // Validated when they were stored.
    preferences: preferences.map(({ type, ...one }) => ({ ...one, type: type ?? null }) as Preference),
    quietHours: quietHours === undefined ? null : { ...quietHours, days: quietHours.days ?? null },
    ...{ pending, notified, dueAt: due?.due ?? null },
  };
}

/** Reads and writes what members have said about their notifications. */
export function notificationStates({ notificationStates: collection }: Collections) {
  /** Inserts or changes the member's document. */
  async function change(userId: UserId, update: Document | Document[]): Promise<void> {
    await retryOnDuplicateKey(() => collection.updateOne({ _id: userId }, update, { upsert: true }));
  }

  return {
    /** Also of members without a document. Unordered. */
    async statesOf(userIds: readonly UserId[]): Promise<(NotificationState & { readonly userId: UserId })[]> {
      const ids = [...new Set(userIds)];
      const found = await inTurns(collection.find({ _id: { $in: ids } }));
      const byId = new Map(found.map((document) => [document._id, document]));
      return ids.map((userId) => ({ userId, ...toState(byId.get(userId) ?? null) }));
    },

    async state(userId: UserId): Promise<NotificationState> {
      return toState(await collection.findOne({ _id: userId }));
    },

    /** Moves the mark forward, never back. */
    markSeen: (userId: UserId, upTo: Date) => change(userId, { $max: { seenAt: upTo } }),

    /** The same for the mark of what was read. Marks of single groups that lie below it are forgotten. */
    markRead: (userId: UserId, upTo: Date) =>
      change(userId, [
        { $set: { readAt: { $max: ['$readAt', upTo] } } },
        { $set: { read: readAfter('$readAt') } },
      ]),

    /** Marks single groups as read up to where they stand. */
    markGroupsRead: (userId: UserId, groups: readonly NotificationPosition[], now: Date) =>
      change(userId, [
        {
          $set: {
            read: {
              $slice: [
                {
                  $concatArrays: [
                    readAfter(
                      new Date(now.getTime() - NOTIFICATION_WINDOW_MS),
                      groups.map(({ key }) => key),
                    ),
                    literal(groups.map(({ key, at }) => ({ key, at }))),
                  ],
                },
                -MAX_READ,
              ],
            },
          },
        },
      ]),

    /** Sets at least one preference; what was said of the same targets is replaced. */
    setPreferences: (userId: UserId, preferences: readonly Preference[]) =>
      change(userId, [
        {
          $set: {
            preferences: {
              $slice: [
                {
                  $concatArrays: [
                    {
                      $filter: {
                        input: { $ifNull: ['$preferences', []] },
                        as: 'one',
                        cond: { $not: [{ $or: preferences.map(isAbout) }] },
                      },
                    },
                    literal(
                      preferences.map(({ kind, type, channel, isOn }) => ({
                        ...{ kind, channel, isOn },
                        ...(type === null ? {} : { type }),
                      })),
                    ),
                  ],
                },
                -MAX_PREFERENCES,
              ],
            },
          },
        },
      ]),

    /**
     * Notifications that were due before are decided again: they may have waited for the end of other hours. Those still being gathered are
     * not hurried.
     */
    setQuietHours: (userId: UserId, hours: QuietHours | null, now: Date) =>
      change(userId, [
        {
          $set: {
            quietHours: hours === null ? '$$REMOVE' : literal(storedHours(hours)),
            due: {
              $cond: [
                // Not one that is being decided now, and none that was never claimed, which has no attempts.
                { $and: [{ $gte: ['$due.attempts', 0] }, { $lte: ['$due.owner', null] }] },
                { $mergeObjects: ['$due', { due: { $min: ['$due.due', now] } }] },
                { $ifNull: ['$due', '$$REMOVE'] },
              ],
            },
          },
        },
      ]),
  };
}

const storedHours = ({ days, ...times }: QuietHours): NotificationStateDocument['quietHours'] => ({
  ...times,
  ...(days === null ? {} : { days: [...days] }),
});

/** Marks of single groups from later than then, without those of some keys. */
function readAfter(time: unknown, without: readonly string[] = []): Document {
  return {
    $filter: {
      input: { $ifNull: ['$read', []] },
      as: 'one',
      cond: { $and: [{ $gt: ['$$one.at', time] }, { $not: [{ $in: ['$$one.key', literal(without)] }] }] },
    },
  };
}

function isAbout({ kind, type, channel }: PreferenceTarget): Document {
  return {
    $and: [
      { $eq: ['$$one.kind', kind] },
      { $eq: ['$$one.channel', channel] },
      { $eq: [{ $ifNull: ['$$one.type', null] }, literal(type)] },
    ],
  };
}
