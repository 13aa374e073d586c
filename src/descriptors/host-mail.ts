import type { NotificationKind } from '../domain/notification.ts';
import type { DeclarationFault } from './check.ts';

/** A mail to a member, in their language, before anything is laid out. No text has markup. */
export interface MailContent {
  readonly memberId: string;
  /** Name of the member; the id if there is none. */
  readonly name: string;
  /** A language that the server has sentences in. */
  readonly locale: string;
  readonly timeZone: string;
  /** The newest that concern the member, at most 20. */
  readonly notifications: readonly MailNotification[];
  /** How many more there are. */
  readonly more: number;
  /** What the member has not read of their feed; `null`: the mail is not about that. */
  readonly digest: {
    readonly count: number;
    readonly isExact: boolean;
    /** The topmost of them, at most 5. */
    readonly items: readonly MailItem[];
  } | null;
  /** The page of the app that mails lead to. */
  readonly link: string;
  /** The page that ends mails of these kinds; `null`: the host has locked all of them. */
  readonly unsubscribe: string | null;
}

/** A sentence of a mail. */
interface Said {
  /** As the API has it. */
  readonly id: string;
  /** The sentence, such as "Ann commented on your post". */
  readonly text: string;
  /** The same in parts. */
  readonly parts: readonly { readonly text: string; readonly isName: boolean }[];
  /** Time of the newest event. */
  readonly at: Date;
  /** The page of the app that mails lead to. */
  readonly link: string;
}

export interface MailNotification extends Said {
  readonly kind: NotificationKind;
}

/** An action in the feed: its id, its sentence, and the time at which it was conducted. */
export type MailItem = Said;

export interface WrittenMail {
  /** One line. */
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Writes a mail in a process that sends them. It has two seconds; without an answer the server writes the mail. */
export type MailTemplate = (mail: MailContent) => WrittenMail | Promise<WrittenMail>;

export function mailFaults(mail: unknown): DeclarationFault[] {
  return mail === undefined || typeof mail === 'function'
    ? []
    : [{ path: 'mail', message: 'Must be a function that writes a mail' }];
}
