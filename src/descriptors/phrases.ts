import type { Locale } from './locale.ts';
import { argumentsOf, messageOf } from './message-syntax.ts';

/** Words of a language that the sentences of all types share, as ICU messages. */
export interface PhraseMessages {
  /** People and things of a list that are not named, by their `{count}`: "3 others". */
  readonly others: string;
  /** The same where nobody has counted them: "many others". */
  readonly manyOthers: string;
}

export const SHIPPED_PHRASES: ReadonlyMap<Locale, PhraseMessages> = new Map([
  ['en', { others: '{count, number} others', manyOthers: 'many others' }],
  ['de', { others: '{count, number} weitere', manyOthers: 'viele weitere' }],
]);

/** Says who is not named in a list. @param count null where it is not known. */
export type OthersPhrase = (count: number | null) => string;

export function othersPhrase(locale: Locale, { others, manyOthers }: PhraseMessages): OthersPhrase {
  const counted = compilePhrase(others, locale, ['count']);
  const uncounted = compilePhrase(manyOthers, locale, []);
  return (count) => (count === null ? uncounted({}) : counted({ count }));
}

/** @throws Error if it is no ICU message or names something else than what is `known`. */
export function compilePhrase(
  text: string,
  locale: Locale,
  known: readonly string[],
): (values: Readonly<Record<string, number>>) => string {
  const format = messageOf(text, locale);
  for (const name of argumentsOf(format.getAst()))
    if (!known.includes(name)) throw new Error(`There is no ${name} for the message "${text}"`);
  return (values) => {
    const said: unknown = format.format(values);
    return typeof said === 'string' ? said : '';
  };
}
