import Negotiator from 'negotiator';

/** A language tag, such as `de` or `pt-BR`. */
export type Locale = string;

/** Fallback when a sentence is missing in the requested language. */
export const DEFAULT_LOCALE = 'en';

/** Maximum length of an Accept-Language list, in characters; longer lists are ignored. */
export const MAX_LANGUAGES_LENGTH = 256;

/** Best match among the `served` locales for an Accept-Language list such as `de-AT, en;q=0.5`. */
export function bestLocale(languages: string | undefined, served: readonly Locale[]): Locale {
  if (languages === undefined || languages.length > MAX_LANGUAGES_LENGTH) return DEFAULT_LOCALE;
  const [best] = new Negotiator({ headers: { 'accept-language': languages } }).languages([...served]);
  return best ?? DEFAULT_LOCALE;
}

/** The primary language of a tag, without region or script. */
export function languageOf(locale: Locale): Locale {
  return locale.split('-', 1)[0] ?? locale;
}
