import { createHash } from 'node:crypto';
import type { Document, Filter } from 'mongodb';
import type { UserId } from '../../../src/domain/action.ts';
import { inTurns } from '../../../src/storage/database/batches.ts';
import { retryOnDuplicateKey } from '../../../src/storage/database/errors.ts';
import {
  type Claiming,
  type Failure,
  type Held,
  leased,
  leaseDue,
} from '../../../src/storage/database/lease.ts';
import {
  type Collections,
  type Declared,
  index,
  NOT_OF_ACTIONS,
} from '../../../src/storage/documents/declaration.ts';
import type { LeaseDocument } from '../../../src/storage/documents/lease-document.ts';
import { literal } from '../../../src/storage/stages/revision.ts';

/** Why a member is sent no mails: the mail server knows no such mailbox, mails came back, or they complained. */
export const MAIL_OFF_REASONS = ['REFUSED', 'BOUNCED', 'COMPLAINED'] as const;
export type MailOffReason = (typeof MAIL_OFF_REASONS)[number];

/** What a mail is about. The same until the attempt is over, if it was interrupted. */
export interface MailSubject {
  /** The latest event for hosts among them, from which the id of the mail is derived. */
  readonly eventId: string;
  /** The subjects of notifications, as `dueKey` has them. */
  readonly pending: readonly string[];
  readonly hasDigest: boolean;
}

/** The mails of a member. */
interface MailboxDocument {
  _id: string;
  /** Digest of the address that mails go to, to find whose mail came back. */
  address?: string;
  /** What the next mail is about; at most 200, the newest last. */
  pending?: string[];
  hasDigest?: true;
  /** The latest events for hosts that were noted, at most 100, so that none is noted twice. */
  events?: string[];
  /** Since when something waits. */
  since?: Date;
  /** Present while something waits. Its progress: what the current attempt is about. */
  due?: LeaseDocument<{ eventId: string; pending: string[]; hasDigest: boolean }>;
  /** When the last mail was taken. */
  sentAt?: Date;
  /** Why the last mail was not taken, if it was given up. */
  failed?: { at: Date; error: string };
  /** No mails go to this address any more. */
  off?: { address: string; reason: MailOffReason; at: Date; error?: string };
  /** When the member unsubscribed from digests. */
  digestsOffAt?: Date;
}

declare module '../../../src/storage/documents/declaration.ts' {
  interface Documents {
    readonly mailboxes: MailboxDocument;
  }
}

export const MAILBOXES: Declared<'mailboxes'> = {
  name: 'mailboxes',
  holds: 'what the next mail to a member is about, when the last one was sent, and why none are',
  ids: { member: ['_id'] },
  indexes: [
    index('due', { 'due.due': 1 }, 'mails: the next to be sent', {
      partialFilterExpression: { 'due.due': { $exists: true } },
    }),
    index('address', { address: 1 }, 'bounces and complaints: whose address it is'),
    index('off', { 'off.at': 1 }, 'fanfare doctor: members whose mails come back', {
      partialFilterExpression: { 'off.at': { $exists: true } },
    }),
  ],
  shard: { key: { _id: 1 }, serves: 'the mails of a member' },
  erase: 'delete',
  export: [
    {
      section: 'mails',
      of: '_id',
      entry: ({ pending = [], hasDigest = false, sentAt, failed, off, digestsOffAt }) => ({
        ...{ pending, hasDigest, sentAt: sentAt ?? null, failed: failed ?? null },
        off: off === undefined ? null : { reason: off.reason, at: off.at, error: off.error ?? null },
        digestsOffAt: digestsOffAt ?? null,
      }),
    },
  ],
  action: NOT_OF_ACTIONS,
};

/** Shortest time between two mails to a member. */
export const MAILS_APART_MS = 3_600_000;
const MAX_PENDING = 200;
const MAX_EVENTS = 100;

/** By which an address is known beside the member. */
export function addressDigest(email: string): string {
  return createHash('sha256').update(email.toLowerCase()).digest('hex');
}

/** Something that a member is to be mailed about. */
export interface NotedMail {
  readonly userId: UserId;
  readonly email: string;
  readonly eventId: string;
  readonly pending: readonly string[];
  readonly isDigest: boolean;
}

/** A member who is to be mailed something. */
export interface DueMail extends Held<UserId> {
  readonly subject: MailSubject;
  readonly since: Date;
  /** Including this one, since the last mail. */
  readonly attempts: number;
  /** Of the attempt before. */
  readonly error?: string | undefined;
  readonly box: Mailbox;
}

/** How mails to a member stand. */
export interface Mailbox {
  readonly sentAt: Date | null;
  readonly failed: { readonly at: Date; readonly error: string } | null;
  readonly off: {
    readonly address: string;
    readonly reason: MailOffReason;
    readonly at: Date;
    readonly error: string | null;
  } | null;
  readonly digestsOffAt: Date | null;
}

export const isMailDue = (by: Date): Filter<MailboxDocument> => leaseDue('due', by);

/** What members are to be mailed. Unique key: `_id`. */
export function mailboxesRepository({ mailboxes }: Pick<Collections, 'mailboxes'>) {
  const leases = leased(mailboxes, 'due');

  return {
    /** Notes what members are to be mailed about; the same event once. One write. */
    async note(noted: readonly NotedMail[], now: Date): Promise<void> {
      if (noted.length === 0) return;
      await retryOnDuplicateKey(() =>
        mailboxes.bulkWrite(
          noted.map((one) => ({
            updateOne: { filter: { _id: one.userId }, update: notedStages(one, now), upsert: true },
          })),
          // Two of a member's events are noted in their order.
          { ordered: true },
        ),
      );
    },

    /** Claims the members among those due longest. Index `due`. */
    async claimDue(claiming: Claiming, limit: number): Promise<DueMail[]> {
      const subject = {
        eventId: { $arrayElemAt: ['$events', -1] },
        pending: { $ifNull: ['$pending', []] },
        hasDigest: { $ifNull: ['$hasDigest', false] },
      };
      const documents = await leases.claimSome(claiming, limit, {
        then: [{ $set: { 'due.progress': { $ifNull: ['$due.progress', subject] } } }],
      });
      return documents.map((document) => ({
        ...{ id: document._id, token: claiming.token, attempts: document.due?.attempts ?? 1 },
        ...{ since: document.since ?? claiming.now, error: document.due?.error },
        subject: document.due?.progress ?? { eventId: '', pending: [], hasDigest: false },
        box: toMailbox(document),
      }));
    },

    /** Nothing was sent: due again from then on, together with what comes until then, unless an earlier attempt may have sent it. */
    async wait(claim: DueMail, until: Date): Promise<void> {
      await mailboxes.updateOne(leases.held(claim), [
        {
          $set: {
            'due.due': until,
            'due.owner': '$$REMOVE',
            'due.attempts': { $subtract: ['$due.attempts', 1] },
            'due.progress': { $cond: [{ $gt: ['$due.attempts', 1] }, '$due.progress', '$$REMOVE'] },
          },
        },
      ]);
    },

    /**
     * An attempt has failed: due again from then on.
     * @param isUnknown the mail may have been sent: the next attempt is about the same
     */
    async retry(
      claim: DueMail,
      from: Date,
      { error, isUnknown }: { readonly error: string; readonly isUnknown: boolean },
    ): Promise<void> {
      await mailboxes.updateOne(leases.held(claim), [
        {
          $set: {
            'due.due': from,
            'due.owner': '$$REMOVE',
            'due.error': literal(error),
            ...(isUnknown ? {} : { 'due.progress': '$$REMOVE' }),
          },
        },
      ]);
    },

    /** What the attempt was about is done. What came meanwhile is due at another time. */
    async settle(
      claim: DueMail,
      { now, sentTo = null, failed = null }: { now: Date; sentTo?: string | null; failed?: string | null },
    ): Promise<void> {
      const { pending, hasDigest } = claim.subject;
      const isEmpty = {
        $and: [{ $eq: ['$pending', []] }, { $eq: [{ $ifNull: ['$hasDigest', false] }, false] }],
      };
      const nextAt = { $max: [now, { $add: [{ $ifNull: ['$sentAt', new Date(0)] }, MAILS_APART_MS] }] };
      await mailboxes.updateOne(leases.held(claim), [
        {
          $set: {
            pending: {
              $filter: {
                input: { $ifNull: ['$pending', []] },
                cond: { $not: [{ $in: ['$$this', literal(pending)] }] },
              },
            },
            ...(hasDigest ? { hasDigest: '$$REMOVE' } : {}),
            ...(sentTo === null
              ? {}
              : { sentAt: now, address: literal(addressDigest(sentTo)), failed: '$$REMOVE' }),
            ...(failed === null ? {} : { failed: { at: now, error: literal(failed) } }),
          },
        },
        {
          $set: {
            due: { $cond: [isEmpty, '$$REMOVE', { due: nextAt }] },
            since: { $cond: [isEmpty, '$$REMOVE', now] },
          },
        },
        { $set: { pending: { $cond: [{ $eq: ['$pending', []] }, '$$REMOVE', '$pending'] } } },
      ]);
    },

    release: (claim: DueMail, from: Date, failure?: Failure) => leases.release(claim, from, failure),

    /** No more mails to these addresses. Returns the number of members. Index `address`. */
    async turnOff(
      addresses: readonly string[],
      {
        reason,
        at,
        error,
      }: { readonly reason: MailOffReason; readonly at: Date; readonly error: string | null },
    ): Promise<number> {
      const off = { reason, at, ...(error === null ? {} : { error }) };
      const { matchedCount } = await mailboxes.updateMany({ address: { $in: [...addresses] } }, [
        { $set: { off: { $mergeObjects: [literal(off), { address: '$address' }] } } },
      ]);
      return matchedCount;
    },

    async find(userId: UserId): Promise<Mailbox> {
      return toMailbox(await mailboxes.findOne({ _id: userId }));
    },

    /** No more digests by mail. */
    async endDigests(userId: UserId, at: Date): Promise<void> {
      await retryOnDuplicateKey(() =>
        mailboxes.updateOne({ _id: userId }, { $min: { digestsOffAt: at } }, { upsert: true }),
      );
    },

    /** Mails, and digests among them, are sent again. */
    async resume(userId: UserId): Promise<void> {
      await mailboxes.updateOne({ _id: userId }, { $unset: { off: 1, digestsOffAt: 1, failed: 1 } });
    },

    /** Number of members who are sent no mails, by reason. Index `off`. */
    async countOff(): Promise<{ readonly reason: MailOffReason; readonly count: number }[]> {
      const found = await inTurns(
        mailboxes.aggregate<{ _id: MailOffReason; count: number }>([
          { $match: { 'off.at': { $exists: true } } },
          { $group: { _id: '$off.reason', count: { $sum: 1 } } },
          { $sort: { _id: 1 } },
        ]),
      );
      return found.map(({ _id: reason, count }) => ({ reason, count }));
    },
  };
}

function notedStages({ email, eventId, pending, isDigest }: NotedMail, now: Date): Document[] {
  const events = { $ifNull: ['$events', []] };
  const known = { $ifNull: ['$pending', []] };
  const fresh = { $filter: { input: literal(pending), cond: { $not: [{ $in: ['$$this', known] }] } } };
  const nextAt = { $max: [now, { $add: [{ $ifNull: ['$sentAt', new Date(0)] }, MAILS_APART_MS] }] };
  // The same event may be noted again, also when its mail has been sent.
  const unlessKnown = (field: string, value: unknown): Document => ({
    [field]: {
      $cond: [{ $in: [literal(eventId), events] }, { $ifNull: [`$${field}`, '$$REMOVE'] }, value],
    },
  });
  return [
    {
      $set: {
        address: literal(addressDigest(email)),
        ...unlessKnown('events', { $slice: [{ $concatArrays: [events, [literal(eventId)]] }, -MAX_EVENTS] }),
        ...(pending.length === 0
          ? {}
          : unlessKnown('pending', { $slice: [{ $concatArrays: [known, fresh] }, -MAX_PENDING] })),
        ...(isDigest ? unlessKnown('hasDigest', true) : {}),
        ...unlessKnown('since', { $ifNull: ['$since', now] }),
        ...unlessKnown('due', { $ifNull: ['$due', { due: nextAt }] }),
      },
    },
  ];
}

function toMailbox(document: MailboxDocument | null): Mailbox {
  const { sentAt = null, failed = null, off, digestsOffAt = null } = document ?? {};
  return {
    ...{ sentAt, failed, digestsOffAt },
    off: off === undefined ? null : { ...off, error: off.error ?? null },
  };
}
