import Negotiator from 'negotiator';

/** The tag of a language, such as `de` or `pt-BR`. */
export type Locale = string;

/** Served wherever the language that was asked for has no sentence. */
export const DEFAULT_LOCALE = 'en';

/** Longest list of languages that is looked at, in characters; of a longer one nothing is. */
export const MAX_LANGUAGES_LENGTH = 256;

/** The one of the `served` locales that serves a list as in Accept-Language, such as `de-AT, en;q=0.5`, best. */
export function bestLocale(languages: string | undefined, served: readonly Locale[]): Locale {
  if (languages === undefined || languages.length > MAX_LANGUAGES_LENGTH) return DEFAULT_LOCALE;
  const [best] = new Negotiator({ headers: { 'accept-language': languages } }).languages([...served]);
  return best ?? DEFAULT_LOCALE;
}

/** The language alone, of a tag that says more, such as a country. */
export function languageOf(locale: Locale): Locale {
  return locale.split('-', 1)[0] ?? locale;
}
