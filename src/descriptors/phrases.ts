import { FORMER_MEMBER } from '../domain/pseudonym.ts';
import type { Locale } from './locale.ts';
import { argumentsOf, messageOf } from './message-syntax.ts';

/** Phrases that the sentences of all types share, per language, as ICU messages. */
export interface PhraseMessages {
  /** The rest of a shortened list: "3 others", from `{count}`. */
  readonly others: string;
  /** The same when the count is unknown: "many others". */
  readonly manyOthers: string;
  /** The name of an erased member: "Former member". */
  readonly formerMember: string;
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
): (values: Readonly<Record<string, number>>) => string {
  const format = messageOf(text, locale);
  for (const name of argumentsOf(format.getAst()))
    if (!known.includes(name)) throw new Error(`Unknown argument ${name} in the message "${text}"`);
  return (values) => {
    const said: unknown = format.format(values);
    return typeof said === 'string' ? said : '';
  };
}
