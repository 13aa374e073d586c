import { IntlMessageFormat } from 'intl-messageformat';
import { isDirected, isolated } from '../domain/text-forms.ts';
import { joinTexts } from '../lib/byte-text.ts';
import { DEFAULT_LOCALE, nearestLocale, type Locale } from './locale.ts';
import type { NotificationMessages } from '../domain/notification.ts';
import { FORMER_MEMBER } from '../domain/erasure.ts';

/** Phrases that the sentences of all types share, per language, as ICU messages. Parts of the server add their own. */
export interface PhraseMessages {
  /** The rest of a shortened list: "3 others", from `{count}`. */
  readonly others: string;
  /** The same when the count is unknown: "many others". */
  readonly manyOthers: string;
  /** The name of an erased member: "Former member". */
  readonly formerMember: string;
  /** Sentences of notifications by kind. Default: English. */
  readonly notifications?: NotificationMessages;
}

export const SHIPPED_PHRASES: ReadonlyMap<Locale, PhraseMessages> = new Map([
  ['en', { others: '{count, number} others', manyOthers: 'many others', formerMember: FORMER_MEMBER }],
  [
    'de',
    { others: '{count, number} weitere', manyOthers: 'viele weitere', formerMember: 'Ehemaliges Mitglied' },
  ],
]);

/** Renders the rest of a shortened list. @param count `null` when unknown. */
export type OthersPhrase = (count: number | null) => string;

export function othersPhrase(locale: Locale, { others, manyOthers }: PhraseMessages): OthersPhrase {
  const counted = compilePhrase(others, locale, ['count']);
  const uncounted = compilePhrase(manyOthers, locale, []);
  return (count) => (count === null ? uncounted({}) : counted({ count }));
}

/** @throws Error when the text is not an ICU message or uses an argument outside `known`. */
export function compilePhrase(
  text: string,
  locale: Locale,
  known: readonly string[],
): (values: Readonly<Record<string, string | number>>) => string {
  const format = messageOf(text, locale);
  for (const name of argumentsOf(format.getAst()))
    if (!known.includes(name)) throw new Error(`Unknown argument ${name} in the message "${text}"`);
  return (values) => {
    const said: unknown = format.format(values);
    return typeof said === 'string' ? said : '';
  };
}

type Syntax = ReturnType<IntlMessageFormat['getAst']>;

/** Element kinds as numbered by icu-messageformat-parser. */
const LITERAL = 0;
const ARGUMENT = 1;

/** @throws Error that quotes the message, which the parser's own error does not. */
export function messageOf(text: string, locale: Locale): IntlMessageFormat {
  try {
    return new IntlMessageFormat(text, locale);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${JSON.stringify(text)} is not a valid ICU message: ${reason}`, { cause: error });
  }
}

/** All arguments of a message, including those inside its branches. */
export function argumentsOf(syntax: Syntax): string[] {
  const names = new Set<string>();
  const walk = (elements: Syntax): void => {
    for (const element of elements) {
      const kind: number = element.type;
      if (kind !== LITERAL && 'value' in element) names.add(element.value);
      if ('options' in element) for (const option of Object.values(element.options)) walk(option.value);
      if ('children' in element) walk(element.children);
    }
  };
  walk(syntax);
  return [...names];
}

/**
 * The sentence of an action type in each language: an ICU message that starts with the actor. `{actor}` is the action's
 * actor; every other argument is a field. Ids are shown by their current name. Of several messages, the first one whose ids
 * all have names and whose fields all have values is used, otherwise the last one. Missing languages fall back to English.
 */
export type SentenceMessages = Readonly<Record<typeof DEFAULT_LOCALE, Messages>> & LocalMessages;
export type LocalMessages = Readonly<Partial<Record<Locale, Messages>>>;
export type Messages = string | readonly string[];

export const ACTOR = 'actor';

/** Argument of group sentences: the number of subjects at the start, for words that must agree with it. */
export const SUBJECTS = 'subjects';

/** Text, or a placeholder for a name. */
export type SentencePart = string | { readonly id: string };

/** Arguments of a message; ids are listed by argument name. */
export interface SentenceValues {
  hasName(argument: string): boolean;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface Sentence {
  /** Arguments that are ids: the actor, people and things. */
  readonly ids: readonly string[];
  readonly values: readonly string[];
  /** The language actually used for a reader who asks for `locale`. */
  spoken(locale: Locale): Locale;
  /** Upper bound on the parts in any language. */
  readonly most: number;
  parts(locale: Locale, values: SentenceValues): SentencePart[];
}

interface Message {
  readonly arguments: readonly string[];
  parts(fields: Readonly<Record<string, unknown>>): SentencePart[];
}

/** Marks the position of a name: the formatter returns objects as separate parts. */
class NamePlace {
  readonly id: string;

  constructor(id: string) {
    this.id = id;
  }
}

/** @throws Error when a message is not valid ICU or uses an unknown field. */
export function defineSentence(
  messages: SentenceMessages,
  fields: Readonly<Record<string, { readonly kind: string }>>,
): Sentence {
  const isId = (name: string): boolean => name === ACTOR || fields[name]?.kind === 'id';
  const byLocale = new Map<Locale, readonly Message[]>();
  for (const [locale, said] of Object.entries(messages)) {
    if (said === undefined) continue;
    const texts = [said].flat();
    byLocale.set(
      locale,
      texts.map((text) => compile(text, locale, fields, isId)),
    );
  }
  const locales = [...byLocale.keys()];
  // By locale of the process, of which there are few.
  const known = new Map<Locale, Locale>();
  const spoken = (locale: Locale): Locale => {
    let found = known.get(locale);
    if (found === undefined) known.set(locale, (found = nearestLocale(locale, locales) ?? DEFAULT_LOCALE));
    return found;
  };
  const all = [...byLocale.values()].flat().flatMap((message) => message.arguments);
  return {
    ids: [...new Set(all.filter(isId))],
    values: [...new Set(all.filter((name) => !isId(name)))],
    spoken,
    most: Math.max(...Object.values(messages).flat().map(mostPartsOf)),
    parts(locale, values) {
      const candidates = byLocale.get(spoken(locale)) ?? [];
      const fits = (message: Message): boolean =>
        message.arguments.every((name) =>
          isId(name) ? values.hasName(name) : isPresent(values.fields[name]),
        );
      const message = candidates.find(fits) ?? candidates.at(-1);
      return message?.parts(values.fields) ?? [];
    },
  };
}

/**
 * Sentence about several actions of a group: the type's sentence, where an id in which the actions differ stands for all of
 * their ids.
 * @throws Error when it uses a value that the actions need not have in common.
 */
export function defineGroupSentence(
  messages: SentenceMessages,
  fields: Readonly<Record<string, { readonly kind: string }>>,
  key: readonly string[],
): Sentence {
  const sentence = defineSentence(messages, { ...fields, [SUBJECTS]: { kind: 'number' } });
  for (const name of sentence.values)
    if (name !== SUBJECTS && !key.includes(name))
      throw new Error(
        `A sentence about a group cannot show ${name}, in which its actions differ: give one here without ${name}; if there is none, the summary is used.` +
          (fields[name]?.kind === 'json' ? '' : ` Or add ${name} to group`),
      );
  return sentence;
}

/** Each argument is a part, between two of text. */
function mostPartsOf(message: string | undefined): number {
  return 2 * (message ?? '').split('{').length - 1;
}

/** A text of others cannot change the direction of the sentence. */
function shown(value: unknown): unknown {
  return typeof value === 'string' && isDirected(value) ? isolated(value) : (value ?? '');
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function compile(
  text: string,
  locale: Locale,
  fields: Readonly<Record<string, unknown>>,
  isId: (name: string) => boolean,
): Message {
  const format = messageOf(text, locale);
  const syntax = format.getAst();
  const names = argumentsOf(syntax);
  for (const name of names)
    if (name !== ACTOR && !Object.hasOwn(fields, name))
      throw new Error(`Unknown field ${name} in the message "${text}"`);
  const places = new Map(names.filter(isId).map((name) => [name, new NamePlace(name)]));
  const plain = plainElements(syntax);
  return {
    arguments: names,
    parts(values) {
      const valueOf = (name: string): unknown => places.get(name) ?? shown(values[name]);
      // Most messages consist of text and names only; the full formatter takes twenty times as long for them.
      const parts =
        plain?.map((element) => (element.isLiteral ? element.text : valueOf(element.text))) ??
        formatted(format, Object.fromEntries(names.map((name) => [name, valueOf(name)])));
      return joinTexts(parts.map(pieceOf)).filter((part) => part !== '');
    },
  };
}

function plainElements(syntax: Syntax): readonly { isLiteral: boolean; text: string }[] | null {
  const elements: { isLiteral: boolean; text: string }[] = [];
  for (const element of syntax) {
    const kind: number = element.type;
    const isLiteral = kind === LITERAL;
    if (!(isLiteral || kind === ARGUMENT) || !('value' in element)) return null;
    elements.push({ isLiteral, text: element.value });
  }
  return elements;
}

function formatted(format: IntlMessageFormat, values: Readonly<Record<string, unknown>>): unknown[] {
  const parts = format.formatToParts(values);
  return parts.map(({ value }) => value);
}

function pieceOf(part: unknown): SentencePart {
  if (part instanceof NamePlace) return { id: part.id };
  if (part instanceof Date) return part.toISOString();
  return typeof part === 'string' || typeof part === 'number' || typeof part === 'boolean'
    ? String(part)
    : '';
}
