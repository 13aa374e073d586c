import { z } from 'zod';
import type { HostPart, ShippedPhrase } from '../../../src/descriptors/host-parts.ts';
import type { NotificationKind } from '../../../src/domain/notification.ts';

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
type MailTemplate = (mail: MailContent) => WrittenMail | Promise<WrittenMail>;

declare module '../../../src/descriptors/host-config.ts' {
  interface HostOptions {
    /** Writes mails instead of the server. */
    readonly mail?: MailTemplate;
  }
}

declare module '../../../src/descriptors/sentence.ts' {
  interface PhraseMessages {
    /** What mails say, by phrase. Default: English. */
    readonly mail?: Readonly<Partial<Record<MailPhrase, string>>>;
  }
}

/** What mails say beside the sentences of notifications. Names of kinds stand within sentences. */
export const MAILS = {
  key: 'mail',
  schema: z.custom<MailTemplate>(
    (given) => typeof given === 'function',
    'Must be a function that writes a mail',
  ),
  phrases: {
    digest: {
      en: '{count, plural, one {Something new} other {{count, number} new things}} for you',
      de: '{count, plural, one {Eine Neuigkeit} other {{count, number} Neuigkeiten}} für dich',
      arguments: ['count'],
    },
    longDigest: {
      en: 'More than {count, number} new things for you',
      de: 'Mehr als {count, number} Neuigkeiten für dich',
      arguments: ['count'],
    },
    several: {
      en: '{count, number} things that concern you',
      de: '{count, number} Dinge, die dich betreffen',
      arguments: ['count'],
    },
    more: {
      en: 'and {count, plural, one {one more} other {{count, number} more}}',
      de: 'und {count, plural, one {eine weitere} other {{count, number} weitere}}',
      arguments: ['count'],
    },
    open: { en: 'Open', de: 'Öffnen' },
    why: {
      en: 'You get this mail because of your notification settings.',
      de: 'Du bekommst diese Mail wegen deiner Einstellungen für Benachrichtigungen.',
    },
    unsubscribe: { en: 'Unsubscribe', de: 'Abbestellen' },
    ask: {
      en: 'No more mails about {kinds}?',
      de: 'Keine Mails mehr über {kinds}?',
      arguments: ['kinds'],
    },
    done: {
      en: 'There will be no more mails about {kinds}.',
      de: 'Es kommen keine Mails mehr über {kinds}.',
      arguments: ['kinds'],
    },
    later: {
      en: 'You can change that in your notification settings at any time.',
      de: 'Das kannst du in deinen Einstellungen für Benachrichtigungen jederzeit ändern.',
    },
    useless: {
      en: 'This link is not complete. Please use the one in the mail.',
      de: 'Dieser Link ist nicht vollständig. Bitte nimm den aus der Mail.',
    },
    COMMENT: { en: 'comments', de: 'Kommentare' },
    REPLY: { en: 'replies', de: 'Antworten' },
    MENTION: { en: 'mentions', de: 'Erwähnungen' },
    LIKE: { en: 'likes', de: 'Gefällt-mir-Angaben' },
    REACTION: { en: 'reactions', de: 'Reaktionen' },
    RESHARE: { en: 'reshares', de: 'geteilte Beiträge' },
    FOLLOW: { en: 'new followers', de: 'neue Follower' },
    ASSIGNED: { en: 'assignments', de: 'Zuweisungen' },
    OWN: { en: 'requests to you', de: 'Aufgaben für dich' },
    digests: { en: 'what is new', de: 'Neuigkeiten' },
  } satisfies Readonly<Record<NotificationKind, ShippedPhrase>> & Readonly<Record<string, ShippedPhrase>>,
} satisfies HostPart;

export type MailPhrase = keyof typeof MAILS.phrases;
