import type { DescriptorType } from './define.ts';
import { checkHostConfig, type CheckedHostConfig } from './host-config.ts';
import { bestLocale, type Locale } from './locale.ts';
import { othersPhrase, type OthersPhrase } from './phrases.ts';

/** What follows from the types of this process. */
interface Catalogue {
  readonly types: readonly DescriptorType[];
  readonly byType: ReadonlyMap<string, DescriptorType>;
  readonly byInputName: ReadonlyMap<string, DescriptorType>;
  readonly indexedFields: readonly string[];
  readonly others: ReadonlyMap<Locale, OthersPhrase>;
  readonly locales: readonly Locale[];
  readonly source: string;
  /** The types and languages as they are declared, to tell whether others are the same. */
  readonly print: string;
}

type Declared = Pick<CheckedHostConfig, 'types' | 'languages' | 'source'>;

const DEFAULT_SOURCE = 'The default configuration';

let current: Catalogue | null = null;

/**
 * Takes the types and languages of a configuration for this process, before anything asks for them. A process has one set of
 * them: what is stored, indexed and served by them must not depend on who asks.
 * @throws Error when it works with others already.
 */
export function useDescriptors(config: Declared): void {
  const next = catalogueOf(config);
  const { source } = config;
  if (current !== null && current.print !== next.print)
    throw new Error(
      `${source} declares other types or languages than those that this process works with already: run it in a process of its own`,
    );
  current ??= next;
}

/** Where the types of this process are declared, for messages. */
export function descriptorSource(): string {
  return catalogue().source;
}

/** Every type of this process, those of packs first. */
export function descriptorTypes(): readonly DescriptorType[] {
  return catalogue().types;
}

export function descriptorOfType(type: string): DescriptorType | undefined {
  return catalogue().byType.get(type);
}

export function descriptorOfInput(inputName: string): DescriptorType | undefined {
  return catalogue().byInputName.get(inputName);
}

/** Fields that are declared as indexed by any type: actions can be found by their values. */
export function indexedFields(): readonly string[] {
  return catalogue().indexedFields;
}

export function servedLocales(): readonly Locale[] {
  return catalogue().locales;
}

/** The language that serves a list as in Accept-Language best. */
export function localeFor(languages: string | undefined): Locale {
  return bestLocale(languages, servedLocales());
}

/** "3 others". @param count null where it is not known. */
export function othersIn(locale: Locale, count: number | null): string {
  return catalogue().others.get(locale)?.(count) ?? '';
}

function catalogue(): Catalogue {
  return (current ??= catalogueOf(checkHostConfig({}, DEFAULT_SOURCE)));
}

function catalogueOf({ types, languages, source }: Declared): Catalogue {
  const fields = types.flatMap(({ fieldList }) => fieldList);
  return {
    ...{ types, source },
    byType: new Map(types.map((descriptor) => [descriptor.type, descriptor])),
    byInputName: new Map(types.map((descriptor) => [descriptor.inputName, descriptor])),
    indexedFields: [
      ...new Set(fields.flatMap(({ name, field }) => (field.kind === 'id' && field.isIndexed ? [name] : []))),
    ],
    others: new Map([...languages].map(([locale, messages]) => [locale, othersPhrase(locale, messages)])),
    locales: [...languages.keys()],
    print: JSON.stringify([types, [...languages]]),
  };
}
