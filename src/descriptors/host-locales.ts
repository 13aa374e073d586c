import { z } from 'zod';
import { faultIn, groupSentenceFault, pathOf, sentenceFault, type DeclarationFault } from './check.ts';
import { messageSchema, messagesSchema } from './declaration-schema.ts';
import type { DescriptorDeclaration } from './declare.ts';
import { nameSchema } from './define.ts';
import { phraseFaults, type HostPart } from './host-parts.ts';
import { notificationSentence } from './notification-sentences.ts';
import { SPOKEN_KINDS } from '../domain/notification.ts';
import type { Locale } from './locale.ts';
import { compilePhrase, SHIPPED_PHRASES, type PhraseMessages, type LocalMessages } from './sentence.ts';

export interface LocaleDeclaration extends PhraseMessages {
  /**
   * Sentences about a single action, by type, including types of packs. Types may also declare them themselves, but not
   * both.
   */
  readonly summaries?: LocalMessages;
  /** Sentences about a group of actions, by type, where the single sentence does not fit. */
  readonly groupSummaries?: LocalMessages;
}

/** By language tag, such as `fr` or `pt-BR`. */
export type LocaleDeclarations = Readonly<Record<Locale, LocaleDeclaration>>;

const byType = z.record(z.string(), messagesSchema).optional();
const localeSchema = z.strictObject({
  others: messageSchema,
  manyOthers: messageSchema,
  formerMember: nameSchema,
  notifications: z.partialRecord(z.enum(SPOKEN_KINDS), messageSchema).optional(),
  summaries: byType,
  groupSummaries: byType,
});

export function localeFaults(locales: unknown, parts: readonly HostPart[]): DeclarationFault[] {
  if (locales === undefined) return [];
  const ofParts = parts.map(
    ({ key, phrases }) =>
      [key, z.partialRecord(z.enum(Object.keys(phrases)), messageSchema).optional()] as const,
  );
  const read = z.record(z.string(), localeSchema.extend(Object.fromEntries(ofParts))).safeParse(locales);
  if (!read.success)
    return read.error.issues.map(({ path, message }) => ({ path: pathOf('locales', path), message }));
  return Object.entries(locales as LocaleDeclarations).flatMap(([locale, language]) => {
    const { others, manyOthers, notifications = {} } = language;
    const path = `locales.${locale}`;
    const message = tagFault(locale);
    if (message !== null) return [{ path, message }];
    return [
      ['others', faultIn(() => compilePhrase(others, locale, ['count']))] as const,
      ['manyOthers', faultIn(() => compilePhrase(manyOthers, locale, []))] as const,
      ...SPOKEN_KINDS.map((kind) => {
        const text = notifications[kind] ?? '';
        return [
          `notifications.${kind}`,
          faultIn(() => notificationSentence(kind, { [locale]: text })),
        ] as const;
      }),
      ...phraseFaults(parts, locale, language),
    ].flatMap(([name, fault]) => (fault === null ? [] : [{ path: `${path}.${name}`, message: fault }]));
  });
}

function tagFault(locale: Locale): string | null {
  if (SHIPPED_PHRASES.has(locale)) return 'This language is built in';
  let canonical: string | undefined;
  try {
    [canonical] = Intl.getCanonicalLocales(locale);
  } catch {
    return `${JSON.stringify(locale)} is not a language tag such as fr or pt-BR`;
  }
  if (canonical !== locale) return `Must be written ${String(canonical)}`;
  return Intl.PluralRules.supportedLocalesOf([locale]).length === 1
    ? null
    : 'This version of Node.js does not support the language';
}

/** All languages of a configuration; those shipped with the server come first. */
export function languagesOf(locales: LocaleDeclarations): ReadonlyMap<Locale, PhraseMessages> {
  const own = Object.entries(locales).map(
    ([locale, { summaries: _summaries, groupSummaries: _groups, ...phrases }]) => [locale, phrases] as const,
  );
  return new Map([...SHIPPED_PHRASES, ...own]);
}

export function localSentenceFaults(
  locales: LocaleDeclarations,
  declared: readonly DescriptorDeclaration[],
): DeclarationFault[] {
  const byName = new Map(declared.map((declaration) => [declaration.type, declaration]));
  return Object.entries(locales).flatMap(([locale, { summaries = {}, groupSummaries = {} }]) => {
    const types = new Set([...Object.keys(summaries), ...Object.keys(groupSummaries)]);
    return [...types].flatMap((type) => {
      const [said, saidOfGroup] = [summaries[type], groupSummaries[type]];
      const declaration = byName.get(type);
      const at = (list: string, message: string | null): DeclarationFault[] =>
        message === null ? [] : [{ path: `locales.${locale}.${list}.${type}`, message }];
      const given = said === undefined ? 'groupSummaries' : 'summaries';
      if (declaration === undefined) return at(given, 'There is no such type');
      if (declaration.summary[locale] !== undefined || declaration.groupSummary?.[locale] !== undefined)
        return at(given, 'The type itself already declares sentences in this language');
      const fault = said === undefined ? null : sentenceFault(declaration, said);
      if (fault !== null) return at('summaries', fault);
      const aboutSeveral = saidOfGroup ?? said;
      return aboutSeveral === undefined
        ? []
        : at('groupSummaries', groupSentenceFault(declaration, aboutSeveral));
    });
  });
}

export function withLocalSentences(
  declaration: DescriptorDeclaration,
  locales: LocaleDeclarations,
): DescriptorDeclaration {
  const ofType = (list: 'summaries' | 'groupSummaries'): LocalMessages =>
    Object.fromEntries(
      Object.entries(locales).flatMap(([locale, sentences]) => {
        const said = sentences[list]?.[declaration.type];
        return said === undefined ? [] : [[locale, said]];
      }),
    );
  const groupSummary = { ...declaration.groupSummary, ...ofType('groupSummaries') };
  return {
    ...declaration,
    summary: { ...declaration.summary, ...ofType('summaries') },
    ...(Object.keys(groupSummary).length === 0 ? {} : { groupSummary }),
  };
}
