import { onceFor } from '../lib/once-for.ts';
import { FORMER_MEMBER } from '../domain/erasure.ts';
import type { DescriptorType } from './define.ts';
import { checkHostConfig, type CheckedHostConfig } from './host-config.ts';
import type { DeclaredView } from './host-views.ts';
import { phrasesOf, type HostPart, type Phrases } from './host-parts.ts';
import { bestLocale, DEFAULT_LOCALE, type Locale } from './locale.ts';
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
  readonly given: CheckedHostConfig['given'];
  readonly languages: CheckedHostConfig['languages'];
  readonly source: string;
  /** Serialised types and languages, to detect whether another declaration differs. */
  readonly print: string;
}

type Declared = Pick<
  CheckedHostConfig,
  'types' | 'languages' | 'notifications' | 'views' | 'given' | 'source'
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

/** What a part has of the host's configuration. */
interface OfHost<T, Name extends string> {
  /** Absent: nothing was said. */
  readonly value: T | undefined;
  /** In a language of this process; otherwise in English. */
  readonly phrasesIn: (locale: Locale) => Phrases<Name>;
}

export function ofHost<T, Name extends string>(part: HostPart<T, Name>): OfHost<T, Name> {
  const made = ofParts(catalogue());
  let found = made.get(part);
  if (found === undefined) made.set(part, (found = readPart(part, catalogue())));
  // It was made, and checked, by the same declaration.
  return found as OfHost<T, Name>;
}

/** Made by processes that need them only. */
const ofParts = onceFor((_: Catalogue) => new Map<HostPart, OfHost<unknown, string>>());

function readPart(part: HostPart, { given, languages }: Catalogue): OfHost<unknown, string> {
  const all = new Map(
    [...languages].map(([locale, language]) => [locale, phrasesOf(part, locale, language)]),
  );
  return {
    value: given[part.key],
    phrasesIn(locale) {
      const said = all.get(locale) ?? all.get(DEFAULT_LOCALE);
      if (said === undefined) throw new Error('English is missing');
      return said;
    },
  };
}

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

function catalogueOf({ types, languages, notifications, views, given, source }: Declared): Catalogue {
  const fields = types.flatMap(({ fieldList }) => fieldList);
  return {
    ...{ types, notifications, views, given, source },
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
