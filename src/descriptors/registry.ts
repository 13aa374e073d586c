import { onceFor } from '../lib/once-for.ts';
import { FORMER_MEMBER } from '../domain/erasure.ts';
import type { DescriptorType } from './define.ts';
import { checkHostConfig, type CheckedHostConfig } from './host-config.ts';
import type { DeclaredView } from './host-views.ts';
import type { MailTemplate } from './host-mail.ts';
import { bestLocale, DEFAULT_LOCALE, type Locale } from './locale.ts';
import { mailPhrases, type MailPhrases } from './mail-phrases.ts';
import { notificationSentences, type NotificationSentences } from './notification-sentences.ts';
import type { HostPreference } from '../domain/notification.ts';
import { othersPhrase, type OthersPhrase } from './sentence.ts';

/** Data derived from the types of this process. */
interface Catalogue {
  readonly types: readonly DescriptorType[];
  readonly byType: ReadonlyMap<string, DescriptorType>;
  readonly byInputName: ReadonlyMap<string, DescriptorType>;
  readonly indexedFields: readonly string[];
  readonly others: ReadonlyMap<Locale, OthersPhrase>;
  readonly formerMember: ReadonlyMap<Locale, string>;
  readonly locales: readonly Locale[];
  readonly notifications: readonly HostPreference[];
  readonly notificationSentences: NotificationSentences;
  readonly views: readonly DeclaredView[];
  readonly mail: MailTemplate | null;
  readonly languages: CheckedHostConfig['languages'];
  readonly source: string;
  /** Serialised types and languages, to detect whether another declaration differs. */
  readonly print: string;
}

type Declared = Pick<
  CheckedHostConfig,
  'types' | 'languages' | 'notifications' | 'views' | 'mail' | 'source'
>;

const DEFAULT_SOURCE = 'The default configuration';

let current: Catalogue | null = null;

/**
 * Sets the types and languages of this process; must be called before they are first used. A process has exactly one set,
 * since storage, indexes and API must all agree on it.
 * @throws Error when the process already uses a different set.
 */
export function useDescriptors(config: Declared): void {
  const next = catalogueOf(config);
  const { source } = config;
  if (current !== null && current.print !== next.print)
    throw new Error(
      `${source} declares other types or languages than this process already uses: run it in a separate process`,
    );
  current ??= next;
}

/** Where the types of this process are declared, for messages. */
export function descriptorSource(): string {
  return catalogue().source;
}

/** All types of this process; types of packs come first. */
export function descriptorTypes(): readonly DescriptorType[] {
  return catalogue().types;
}

export function descriptorOfType(type: string): DescriptorType | undefined {
  return catalogue().byType.get(type);
}

export function descriptorOfInput(inputName: string): DescriptorType | undefined {
  return catalogue().byInputName.get(inputName);
}

/** Fields that at least one type declares as indexed; filters may use them. */
export function indexedFields(): readonly string[] {
  return catalogue().indexedFields;
}

export function servedLocales(): readonly Locale[] {
  return catalogue().locales;
}

/** Best match among this process's languages for an Accept-Language list. */
export function localeFor(languages: string | undefined): Locale {
  return bestLocale(languages, servedLocales());
}

/** How members are notified unless they choose otherwise. */
export function notificationDefaults(): readonly HostPreference[] {
  return catalogue().notifications;
}

/** In the order of the configuration. */
export function declaredViews(): readonly DeclaredView[] {
  return catalogue().views;
}

export function sentencesOfNotifications(): NotificationSentences {
  return catalogue().notificationSentences;
}

/** How the host writes mails; `null`: as the server does. */
export function mailTemplate(): MailTemplate | null {
  return catalogue().mail;
}

/** What mails say in a language of this process. */
export function mailPhrasesIn(locale: Locale): MailPhrases {
  const phrases = phrasesOf(catalogue());
  const said = phrases.get(locale) ?? phrases.get(DEFAULT_LOCALE);
  if (said === undefined) throw new Error('English is missing');
  return said;
}

/** Made by processes that need them only. */
const phrasesOf = onceFor(
  ({ languages }: Catalogue) =>
    new Map([...languages].map(([locale, { mail }]) => [locale, mailPhrases(locale, mail)])),
);

/** "3 others". @param count `null` when unknown. */
export function othersIn(locale: Locale, count: number | null): string {
  return catalogue().others.get(locale)?.(count) ?? '';
}

/** A name as it is shown: that of erased members is in the reader's language. */
export function nameIn(locale: Locale, name: string): string {
  return name === FORMER_MEMBER ? (catalogue().formerMember.get(locale) ?? name) : name;
}

function catalogue(): Catalogue {
  return (current ??= catalogueOf(checkHostConfig({}, DEFAULT_SOURCE)));
}

function catalogueOf({ types, languages, notifications, views, mail, source }: Declared): Catalogue {
  const fields = types.flatMap(({ fieldList }) => fieldList);
  return {
    ...{ types, notifications, views, mail, source },
    languages,
    byType: new Map(types.map((descriptor) => [descriptor.type, descriptor])),
    byInputName: new Map(types.map((descriptor) => [descriptor.inputName, descriptor])),
    indexedFields: [
      ...new Set(fields.flatMap(({ name, field }) => (field.kind === 'id' && field.isIndexed ? [name] : []))),
    ],
    others: new Map([...languages].map(([locale, messages]) => [locale, othersPhrase(locale, messages)])),
    formerMember: new Map([...languages].map(([locale, { formerMember }]) => [locale, formerMember])),
    locales: [...languages.keys()],
    notificationSentences: notificationSentences(
      new Map([...languages].map(([locale, { notifications: messages = {} }]) => [locale, messages])),
    ),
    print: JSON.stringify([
      types,
      [...languages],
      notifications,
      views.map(({ label, ...view }) => [[...label], view]),
    ]),
  };
}
