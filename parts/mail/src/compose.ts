import { findDue } from '../../notifications/src/due.ts';
import type { NotificationState } from '../../notifications/src/store/states.ts';
import type { MailContent, MailNotification } from '../../../src/descriptors/host-mail.ts';
import { localeFor, notificationDefaults } from '../../../src/descriptors/registry.ts';
import type { UserId } from '../../../src/domain/action.ts';
import type { UnreadFacts } from '../../../src/domain/host-event.ts';
import type { Contact } from '../../../src/domain/member.ts';
import { encodeNotificationId } from '../../../src/domain/node-ids.ts';
import { preferenceOf, type NotificationKind } from '../../../src/domain/notification.ts';
import { plainId } from '../../../src/domain/stored-id.ts';
import type { Context } from '../../../src/feed/context.ts';
import { MEMBER } from '../../../src/feed/loads/names.ts';
import { openSession } from '../../../src/feed/session/open-session.ts';
import type { ReaderSession } from '../../../src/feed/session/reader-session.ts';
import type { Ended } from './token.ts';

/** Upper bound on notifications in a mail. */
const MAX_SHOWN = 20;

export interface MailAbout {
  readonly userId: UserId;
  readonly contact: Contact;
  readonly state: NotificationState;
  readonly pending: readonly string[];
  /** `null`: nothing is said of the feed. */
  readonly unread: UnreadFacts | null;
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
  { userId, contact, state, pending, unread }: MailAbout,
  { link, unsubscribe }: MailPlaces,
): Promise<MailContent | null> {
  const session = openSession(core, { userId, roles: new Set(['user']), expiresAt: null });
  const found = pending.length === 0 ? [] : await findDue(core, session, { pending, state });
  const mailed = found
    .filter(({ due }) => due.channels.includes('EMAIL'))
    .map(({ notification }) => notification)
    .sort((one, other) => other.group.at.getTime() - one.group.at.getTime());
  const digest = unread !== null && unread.count > 0 ? unread : null;
  if (mailed.length === 0 && digest === null) return null;
  const locale = localeFor(contact.locale ?? undefined);
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
    unsubscribe:
      kinds.length === 0 && digest === null
        ? null
        : unsubscribe({ userId, kinds, hasDigest: digest !== null, locale }),
  };
}

/** A member can end mails about a kind that the host has not locked. */
function mayEnd(kind: NotificationKind): boolean {
  return !preferenceOf(notificationDefaults(), [], { kind, type: null, channel: 'EMAIL' }).isLocked;
}

async function shown(
  session: ReaderSession,
  notification: Awaited<ReturnType<typeof findDue>>[number]['notification'],
  { locale, link }: { readonly locale: string; readonly link: string },
): Promise<MailNotification> {
  // Sentences are loaded by processes that make some.
  const [{ notificationParts }, { plainSentence }] = await Promise.all([
    import('../../notifications/src/api/summaries.ts'),
    import('../../../src/graphql/sentences.ts'),
  ]);
  const { userId, group } = notification;
  const id = encodeNotificationId(plainId(userId), group.key);
  const parts = (await notificationParts(session, notification, locale)).map(({ text, member, ref }) => ({
    text,
    isName: member !== null || ref !== null,
  }));
  return {
    ...{ id, kind: group.kind, at: group.at, parts },
    text: plainSentence(parts.map(({ text, isName }) => (isName ? { name: text } : text))),
    link: link.replaceAll('{id}', encodeURIComponent(id)),
  };
}
