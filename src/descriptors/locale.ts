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
  for (const asked of new Negotiator({ headers: { 'accept-language': languages } }).languages()) {
    const found = asked === '*' ? DEFAULT_LOCALE : nearestLocale(asked, served);
    if (found !== null) return found;
  }
  return DEFAULT_LOCALE;
}

/**
 * The locale that serves a reader of another one: the same, or else, as in the lookup of RFC 4647, a shorter tag, or else one
 * of the same language and script. Old tags count as the new ones, and scripts that are left out as the likely ones: `zh-TW`
 * finds `zh-Hant`, `iw` finds `he`. `null`: none.
 */
export function nearestLocale(asked: Locale, served: readonly Locale[]): Locale | null {
  if (served.includes(asked)) return asked;
  const wanted = likely(asked);
  if (wanted === null) return null;
  const choice = served.flatMap((locale) => likely(locale) ?? []);
  const find = (fits: (locale: Likely) => boolean): Locale | undefined => choice.find(fits)?.given;
  return (
    find(({ tag }) => tag === wanted.tag) ??
    find(({ full }) => full === wanted.full) ??
    find(({ tag, written }) => written === wanted.written && `${wanted.tag}-`.startsWith(`${tag}-`)) ??
    find(({ tag, written }) => written === wanted.written && !/-(?:[A-Z]{2}|\d{3})(?:-|$)/.test(tag)) ??
    find(({ written }) => written === wanted.written) ??
    find(({ tag }) => tag === wanted.tag.split('-', 1)[0]) ??
    null
  );
}

interface Likely {
  readonly given: Locale;
  readonly tag: Locale;
  /** With language, script and region. */
  readonly full: Locale;
  /** Language and script. */
  readonly written: string;
}

/** Norwegian is the name of both ways to write it; nearly all of it is Bokmål. */
const MACROLANGUAGES: ReadonlyMap<string, string> = new Map([
  ['no', 'nb'],
  ['nn', 'nb'],
]);

const known = new Map<Locale, Likely | null>();
/** Far more than there are in use; tags come from clients. */
const MAX_KNOWN = 1_000;

/** `null`: it is not a language tag. */
function likely(given: Locale): Likely | null {
  const found = known.get(given);
  if (found !== undefined) return found;
  if (known.size >= MAX_KNOWN) known.clear();
  const made = makeLikely(given);
  known.set(given, made);
  return made;
}

function makeLikely(given: Locale): Likely | null {
  let locale: Intl.Locale;
  try {
    locale = new Intl.Locale(given);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
  const { language, script = '', region = '' } = locale.maximize();
  const name = MACROLANGUAGES.get(language) ?? language;
  return {
    given,
    tag: locale.baseName,
    full: [name, script, region].join('-'),
    written: `${name}-${script}`,
  };
}
