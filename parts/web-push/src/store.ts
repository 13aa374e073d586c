import { createHash } from 'node:crypto';
import type { Document, Filter } from 'mongodb';
import type { ActionId, UserId } from '../../../src/domain/action.ts';
import type { DueNotification } from '../../../src/domain/host-event.ts';
import type { NotificationKind } from '../../../src/domain/notification.ts';
import {
  type Claiming,
  type Failure,
  type Held,
  leased,
  leaseDue,
} from '../../../src/storage/database/lease.ts';
import { retryOnDuplicateKey } from '../../../src/storage/database/errors.ts';
import {
  type Collections,
  type Declared,
  index,
  NOT_OF_ACTIONS,
} from '../../../src/storage/documents/declaration.ts';
import type { LeaseDocument } from '../../../src/storage/documents/lease-document.ts';
import { literal } from '../../../src/storage/stages/revision.ts';
import { dueKey } from '../../notifications/src/store/due.ts';

/** The part of a `notification.due` that is sent. */
export interface QueuedPush {
  /** Of the event. */
  readonly id: string;
  readonly at: Date;
  /** The subject of the notification, as `dueKey` has it: it is decided again if the message is late. */
  readonly pending: readonly string[];
  /** Number of notifications, of which these are the first. */
  readonly total: number;
  readonly notifications: readonly {
    readonly key: string;
    readonly kind: NotificationKind;
    readonly actionId: ActionId | null;
    readonly count: number;
  }[];
}

/** A browser of a member that takes push messages. */
interface PushRegistrationDocument {
  /** Hash of the endpoint: who signs in with a browser takes it over. */
  _id: string;
  userId: string;
  endpoint: string;
  p256dh: string;
  auth: string;
  at: Date;
  /** Not sent yet; at most 20, the newest last. */
  messages?: QueuedPush[];
  /** The latest events that were queued, at most 100, so that none is queued twice. */
  events?: string[];
  /** Present while there are messages. Its progress: they wait for the end of quiet hours. */
  due?: LeaseDocument<'quiet'>;
}

declare module '../../../src/storage/documents/declaration.ts' {
  interface Documents {
    readonly pushRegistrations: PushRegistrationDocument;
  }
}

export const PUSH_REGISTRATIONS: Declared<'pushRegistrations'> = {
  name: 'pushRegistrations',
  holds: 'a browser that takes push messages for a member, and those to be sent',
  ids: { member: ['userId'] },
  indexes: [
    index('member', { userId: 1, at: -1 }, 'the browsers of a member, the newest first'),
    index('due', { 'due.due': 1 }, 'push messages: the next to be sent', {
      partialFilterExpression: { 'due.due': { $exists: true } },
    }),
  ],
  shard: { because: 'found by browser, not by member; a few per member' },
  erase: 'delete',
  export: [{ section: 'pushRegistrations', of: 'userId', entry: ({ endpoint, at }) => ({ endpoint, at }) }],
  action: NOT_OF_ACTIONS,
};

/** The messages of these notifications. */
export function contentOf(notifications: readonly DueNotification[]): Omit<QueuedPush, 'id' | 'at'> {
  return {
    pending: notifications.flatMap(({ key, eventIds }) => eventIds.map((id) => dueKey(key, id))),
    total: notifications.length,
    notifications: notifications
      .slice(0, MAX_NOTIFICATIONS)
      .map(({ key, kind, actionId, eventIds }) => ({ key, kind, actionId, count: eventIds.length })),
  };
}

/** Upper bound on browsers of a member; the newest are kept. */
const MAX_REGISTRATIONS = 20;
const MAX_MESSAGES = 20;
const MAX_EVENTS = 100;
const MAX_NOTIFICATIONS = 10;

export interface PushRegistration {
  readonly endpoint: string;
  readonly p256dh: string;
  readonly auth: string;
}

/** What a member is to be sent. */
export interface NotedPush {
  readonly userId: UserId;
  readonly message: QueuedPush;
}

/** A browser with something to be sent. */
export interface DuePush extends Held<string>, PushRegistration {
  readonly userId: UserId;
  readonly messages: readonly QueuedPush[];
  /** Including this one, since the last message was taken. */
  readonly attempts: number;
  /** Of the attempt before. */
  readonly error?: string | undefined;
}

/** Browsers with something to be sent by then. */
export const isPushDue = (by: Date): Filter<PushRegistrationDocument> => leaseDue('due', by);

/** Messages that may be sent now. */
export interface PushPlaces {
  /** Origins of push services that have no place. */
  readonly closed: readonly string[];
  /** Members who have no place. */
  readonly busy: readonly UserId[];
  /** Whether there is a place for the browser, which it then takes. */
  readonly take: (browser: { readonly endpoint: string; readonly userId: UserId }) => boolean;
}

const startsWith = (origin: string): RegExp => new RegExp(`^${origin.replace(/[^\w:/-]/g, '\\$&')}/`);

const idOf = (endpoint: string): string => createHash('sha256').update(endpoint).digest('hex');

/** The newest entries of a list, with one more. */
const appended = (list: string, entry: unknown, most: number): Document => ({
  $slice: [{ $concatArrays: [{ $ifNull: [list, []] }, literal([entry])] }, -most],
});

/** Browsers that take push messages, and what they are to be sent. Unique key: `_id`. */
export function pushRegistrationsRepository({ pushRegistrations }: Collections) {
  const leases = leased(pushRegistrations, 'due');

  return {
    /** Adds or changes a browser, also one of another member, who is sent nothing more. Two commands; three beyond the limit. */
    async register(userId: UserId, { endpoint, p256dh, auth }: PushRegistration, at: Date): Promise<void> {
      const ifSame = (field: string): Document => ({
        $cond: [{ $eq: ['$userId', literal(userId)] }, { $ifNull: [field, '$$REMOVE'] }, '$$REMOVE'],
      });
      const set = {
        ...{ userId: literal(userId), endpoint: literal(endpoint), at },
        ...{ p256dh: literal(p256dh), auth: literal(auth) },
        ...{ messages: ifSame('$messages'), due: ifSame('$due'), events: ifSame('$events') },
      };
      await retryOnDuplicateKey(() =>
        pushRegistrations.updateOne({ _id: idOf(endpoint) }, [{ $set: set }], { upsert: true }),
      );
      const oldest = await pushRegistrations
        .find({ userId })
        .project<{ _id: string }>({ _id: 1 })
        .sort({ at: -1 })
        .skip(MAX_REGISTRATIONS)
        .toArray();
      if (oldest.length > 0)
        await pushRegistrations.deleteMany({ userId, _id: { $in: oldest.map(({ _id }) => _id) } });
    },

    /** Forgets a browser of the member. `false`: it is not known. */
    async unregister(userId: UserId, endpoint: string): Promise<boolean> {
      const { deletedCount } = await pushRegistrations.deleteOne({ _id: idOf(endpoint), userId });
      return deletedCount > 0;
    },

    /** Queues what members are notified of for all of their browsers; the same event once. One write. Index `member`. */
    async queue(noted: readonly NotedPush[], now: Date): Promise<void> {
      if (noted.length === 0) return;
      await pushRegistrations.bulkWrite(
        noted.map(({ userId, message }) => ({
          updateMany: {
            filter: { userId, events: { $ne: message.id } },
            update: [
              {
                $set: {
                  messages: appended('$messages', message, MAX_MESSAGES),
                  events: appended('$events', message.id, MAX_EVENTS),
                  due: { $ifNull: ['$due', { due: now }] },
                },
              },
            ],
          },
        })),
        // Two of a member's events are queued in their order.
        { ordered: true },
      );
    },

    /** Claims the browsers among those due longest that there is a place for. Index `due`. */
    async claimDue(
      claiming: Claiming,
      limit: number,
      { closed, busy, take }: PushPlaces,
    ): Promise<DuePush[]> {
      const documents = await leases.claimSome(claiming, limit, {
        where: {
          ...(closed.length === 0 ? {} : { endpoint: { $nin: closed.map(startsWith) } }),
          ...(busy.length === 0 ? {} : { userId: { $nin: [...busy] } }),
        },
        only: { fields: ['endpoint', 'userId'], isWanted: take },
      });
      return documents.map(({ _id: id, messages = [], due, ...rest }) => ({
        ...{ ...rest, id, token: claiming.token, messages },
        ...{ attempts: due?.attempts ?? 1, error: due?.error },
      }));
    },

    /** These messages were taken, or are too old. Others are due at once. */
    async settle(claim: DuePush, done: readonly string[], now: Date): Promise<void> {
      const left = {
        $filter: { input: '$messages', cond: { $not: [{ $in: ['$$this.id', literal(done)] }] } },
      };
      await pushRegistrations.updateOne(leases.held(claim), [
        { $set: { messages: left } },
        { $set: { due: { $cond: [{ $eq: ['$messages', []] }, '$$REMOVE', { due: now }] } } },
        { $set: { messages: { $cond: [{ $eq: ['$messages', []] }, '$$REMOVE', '$messages'] } } },
      ]);
    },

    /** Quiet until then. */
    async wait(claim: DuePush, until: Date): Promise<void> {
      await pushRegistrations.updateOne(leases.held(claim), {
        $set: { 'due.due': until, 'due.progress': 'quiet' },
        $unset: { 'due.owner': 1 },
        $inc: { 'due.attempts': -1 },
      });
    },

    /** Messages that wait for the end of quiet hours are decided again. Index `member`. */
    async hurry(userId: UserId, now: Date): Promise<void> {
      await pushRegistrations.updateMany(
        { userId, 'due.progress': 'quiet', 'due.owner': { $exists: false }, 'due.due': { $gt: now } },
        { $set: { 'due.due': now }, $unset: { 'due.progress': 1 } },
      );
    },

    /** Due again from then on, for a reason or in order. */
    release: (claim: DuePush, from: Date, failure?: Failure) => leases.release(claim, from, failure),

    /** The browser takes no messages any more. */
    async forget(claim: DuePush): Promise<void> {
      await pushRegistrations.deleteOne(leases.held(claim));
    },
  };
}
