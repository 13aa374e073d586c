import { findDue } from '../../notifications/src/due.ts';
import type { NotificationState } from '../../notifications/src/store/states.ts';
import type { MailContent, MailItem, MailNotification } from './host.ts';
import { descriptorOfType, localeFor, notificationDefaults } from '../../../src/descriptors/registry.ts';
import type { UserId } from '../../../src/domain/action.ts';
import type { UnreadFacts } from '../../../src/domain/host-event.ts';
import type { Contact } from '../../../src/domain/member.ts';
import type { NewsfeedItem } from '../../../src/domain/newsfeed-item.ts';
import { encodeActionId, encodeNotificationId } from '../../../src/domain/node-ids.ts';
import { preferenceOf, type NotificationKind } from '../../../src/domain/notification.ts';
import { plainId } from '../../../src/domain/stored-id.ts';
import type { Context } from '../../../src/feed/context.ts';
import { MEMBER } from '../../../src/feed/loads/names.ts';
import { openSession } from '../../../src/feed/session/open-session.ts';
import type { ReaderSession } from '../../../src/feed/session/reader-session.ts';
import type { SummaryPart } from '../../../src/graphql/sentences.ts';
import type { Ended } from './token.ts';

/** Upper bound on notifications in a mail. */
const MAX_SHOWN = 20;
/** Of what is new in the feed: enough to want to see the rest. */
const MAX_ITEMS = 5;

export interface MailAbout {
  readonly userId: UserId;
  readonly contact: Contact;
  readonly state: NotificationState;
  readonly pending: readonly string[];
  /** `null`: nothing is said of the feed. */
  readonly unread: UnreadFacts | null;
  /** The topmost of them, at most so many. */
  readonly topUnread: (most: number) => Promise<readonly NewsfeedItem[]>;
}

export interface MailPlaces {
  /** MAIL_LINK. */
  readonly link: string;
  /** The page that ends what is named. */
  readonly unsubscribe: (ended: Ended) => string;
}

/** What a mail says now, by the rules of the list of notifications; `null`: nothing any more. */
export async function contentOf(
  core: Context,
  { userId, contact, state, pending, unread, topUnread }: MailAbout,
  { link, unsubscribe }: MailPlaces,
): Promise<MailContent | null> {
  const session = openSession(core, { userId, roles: new Set(['user']), expiresAt: null });
  const found = pending.length === 0 ? [] : await findDue(core, session, { pending, state });
  const mailed = found
    .filter(({ due }) => due.channels.includes('EMAIL'))
    .map(({ notification }) => notification)
    .sort((one, other) => other.group.at.getTime() - one.group.at.getTime());
  const hasDigest = unread !== null && unread.count > 0;
  if (mailed.length === 0 && !hasDigest) return null;
  const locale = localeFor(contact.locale ?? undefined);
  const items = hasDigest ? await topUnread(MAX_ITEMS) : [];
  const digest = hasDigest
    ? { ...unread, items: await Promise.all(items.map((one) => shownItem(session, one, { locale, link }))) }
    : null;
  const kinds = [...new Set(mailed.map(({ group }) => group.kind))].filter(mayEnd);
  const notifications = await Promise.all(
    mailed.slice(0, MAX_SHOWN).map((one) => shown(session, one, { locale, link })),
  );
  return {
    memberId: plainId(userId),
    name: (await session.load(MEMBER, userId))?.name ?? plainId(userId),
    ...{ locale, timeZone: contact.timeZone ?? state.quietHours?.timeZone ?? 'UTC' },
    ...{ notifications, more: mailed.length - notifications.length, digest },
    link: link.replaceAll('{id}', ''),
    unsubscribe: kinds.length === 0 && !hasDigest ? null : unsubscribe({ userId, kinds, hasDigest, locale }),
  };
}

/** A member can end mails about a kind that the host has not locked. */
function mayEnd(kind: NotificationKind): boolean {
  return !preferenceOf(notificationDefaults(), [], { kind, type: null, channel: 'EMAIL' }).isLocked;
}

interface Shown {
  readonly locale: string;
  readonly link: string;
}

/** Loaded by processes that make some. */
const sentences = () => import('../../../src/graphql/sentences.ts');

async function shown(
  session: ReaderSession,
  notification: Awaited<ReturnType<typeof findDue>>[number]['notification'],
  { locale, link }: Shown,
): Promise<MailNotification> {
  const { notificationParts } = await import('../../notifications/src/api/summaries.ts');
  const { userId, group } = notification;
  const id = encodeNotificationId(plainId(userId), group.key);
  const parts = await notificationParts(session, notification, locale);
  return { kind: group.kind, ...(await said(parts, { id, at: group.at, link })) };
}

async function shownItem(
  session: ReaderSession,
  { action }: NewsfeedItem,
  { locale, link }: Shown,
): Promise<MailItem> {
  const { summaryPartsOf } = await sentences();
  const { type } = action.descriptor;
  const descriptor = descriptorOfType(type);
  const parts =
    descriptor === undefined
      ? [{ text: type, member: null, ref: null }]
      : await summaryPartsOf(session, action, descriptor, locale);
  return said(parts, { id: encodeActionId(action.id), at: action.conducted, link });
}

async function said(
  given: readonly SummaryPart[],
  { id, at, link }: Pick<MailItem, 'id' | 'at' | 'link'>,
): Promise<MailItem> {
  const { plainSentence } = await sentences();
  const parts = given.map(({ text, member, ref }) => ({ text, isName: member !== null || ref !== null }));
  return {
    ...{ id, at, parts },
    text: plainSentence(parts.map(({ text, isName }) => (isName ? { name: text } : text))),
    link: link.replaceAll('{id}', encodeURIComponent(id)),
  };
}
