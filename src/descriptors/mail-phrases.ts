import { NOTIFICATION_KINDS } from '../domain/notification.ts';
import { DEFAULT_LOCALE, type Locale } from './locale.ts';
import { compilePhrase } from './sentence.ts';

interface Shipped {
  readonly en: string;
  readonly de: string;
  /** Of the message. */
  readonly arguments?: readonly string[];
}

/** What mails say beside the sentences of notifications, as ICU messages. Names of kinds stand within sentences. */
const SHIPPED = {
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
} as const satisfies Readonly<Record<string, Shipped>>;

export type MailPhrase = keyof typeof SHIPPED;
/** By phrase. Those that are left out are in English. */
export type MailMessages = Readonly<Partial<Record<MailPhrase, string>>>;
export type MailPhrases = Readonly<
  Record<MailPhrase, (values?: Readonly<Record<string, string | number>>) => string>
>;

export const MAIL_PHRASES = Object.keys(SHIPPED) as MailPhrase[];

/** Each kind of notification has a name. */
NOTIFICATION_KINDS satisfies readonly MailPhrase[];

/** @throws Error when the text is not an ICU message or has an unknown argument. */
export function mailPhrase(
  phrase: MailPhrase,
  text: string,
  locale: Locale,
): (values?: Readonly<Record<string, string | number>>) => string {
  const shipped: Shipped = SHIPPED[phrase];
  const said = compilePhrase(text, locale, shipped.arguments ?? []);
  return (values = {}) => said(values);
}

/** @param added of a language of the host; absent for one that is built in */
export function mailPhrases(locale: Locale, added: MailMessages = {}): MailPhrases {
  const of = (phrase: MailPhrase) => {
    const { en, de }: Shipped = SHIPPED[phrase];
    const own = added[phrase] ?? (locale === 'de' ? de : undefined);
    return own === undefined ? mailPhrase(phrase, en, DEFAULT_LOCALE) : mailPhrase(phrase, own, locale);
  };
  return Object.fromEntries(MAIL_PHRASES.map((phrase) => [phrase, of(phrase)])) as MailPhrases;
}
