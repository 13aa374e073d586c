import type { z } from 'zod';
import { faultIn, pathOf, type DeclarationFault } from './check.ts';
import { DEFAULT_LOCALE, type Locale } from './locale.ts';
import { compilePhrase, type PhraseMessages } from './sentence.ts';

/** A phrase in the languages that ship with the server, as ICU messages. */
export interface ShippedPhrase {
  readonly en: string;
  readonly de: string;
  /** Of the message. */
  readonly arguments?: readonly string[];
}

/**
 * What a part of the server has of the host's configuration: a key of its own, and one of the same name in each language, with
 * phrases. Both are checked with the rest of the configuration; `ofHost` gives them.
 */
export interface HostPart<T = unknown, Name extends string = string> {
  readonly key: string;
  /** Of the value, which may be left out. */
  readonly schema: z.ZodType<T>;
  /** Those that a language leaves out are in English. */
  readonly phrases: Readonly<Record<Name, ShippedPhrase>>;
}

type Values = Readonly<Record<string, string | number>>;
export type Phrases<Name extends string = string> = Readonly<Record<Name, (values?: Values) => string>>;
type Messages = Readonly<Record<string, string | undefined>>;

/** @throws Error when the text is not an ICU message or has an unknown argument. */
function phraseOf(text: string, locale: Locale, shipped: ShippedPhrase): (values?: Values) => string {
  const said = compilePhrase(text, locale, shipped.arguments ?? []);
  return (values = {}) => said(values);
}

/** What a language of the host says, without faults. One that is built in says nothing. */
function messagesIn(language: PhraseMessages, key: string): Messages {
  const { [key]: messages = {} } = language as PhraseMessages & Readonly<Record<string, Messages>>;
  return messages;
}

export function phrasesOf<Name extends string>(
  { key, phrases }: HostPart<unknown, Name>,
  locale: Locale,
  language: PhraseMessages,
): Phrases<Name> {
  const added = messagesIn(language, key);
  const all = Object.entries<ShippedPhrase>(phrases).map(([name, shipped]) => {
    const own = added[name] ?? (locale === 'de' ? shipped.de : undefined);
    const said =
      own === undefined ? phraseOf(shipped.en, DEFAULT_LOCALE, shipped) : phraseOf(own, locale, shipped);
    return [name, said] as const;
  });
  return Object.fromEntries(all) as Phrases<Name>;
}

export function partFaults(
  parts: readonly HostPart[],
  config: Readonly<Record<string, unknown>>,
): DeclarationFault[] {
  return parts.flatMap(({ key, schema }) => {
    const { error } = schema.optional().safeParse(config[key]);
    return (error?.issues ?? []).map(({ path, message }) => ({ path: pathOf(key, path), message }));
  });
}

/** What is wrong with the phrases of parts in a language, by their place in it. */
export function phraseFaults(
  parts: readonly HostPart[],
  locale: Locale,
  language: PhraseMessages,
): [place: string, fault: string | null][] {
  return parts.flatMap(({ key, phrases }) =>
    Object.entries(messagesIn(language, key)).map(([name, text]): [string, string | null] => {
      const shipped = phrases[name];
      const fault = shipped === undefined ? null : faultIn(() => phraseOf(text ?? '', locale, shipped));
      return [`${key}.${name}`, fault];
    }),
  );
}
