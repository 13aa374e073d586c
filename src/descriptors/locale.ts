import Negotiator from 'negotiator';

/** The languages of the sentences that come with the server; the first is for everybody else. */
export const LOCALES = ['en', 'de'] as const;
export type Locale = (typeof LOCALES)[number];

export const DEFAULT_LOCALE = LOCALES[0];

/** Longest list of languages that is looked at, in characters; of a longer one nothing is. */
export const MAX_LANGUAGES_LENGTH = 256;

/** The locale that serves `languages` best: a list as in Accept-Language (RFC 9110), such as `de-AT, en;q=0.5`. */
export function localeFor(languages: string | undefined): Locale {
  if (languages === undefined || languages.length > MAX_LANGUAGES_LENGTH) return DEFAULT_LOCALE;
  const [best] = new Negotiator({ headers: { 'accept-language': languages } }).languages([...LOCALES]);
  return LOCALES.find((name) => name === best) ?? DEFAULT_LOCALE;
}
