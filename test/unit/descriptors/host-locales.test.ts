import { describe, expect, test } from 'vitest';
import { defineDescriptor } from '../../../src/descriptors/declare.ts';
import { field } from '../../../src/descriptors/field.ts';
import { checkHostConfig, defineConfig, HostConfigError } from '../../../src/descriptors/host-config.ts';
import { bestLocale } from '../../../src/descriptors/locale.ts';
import { othersPhrase } from '../../../src/descriptors/sentence.ts';
import { sentenceOf } from '../../support/sentence.ts';

const FRENCH = {
  formerMember: 'Ancien membre',
  others: '{count, plural, one {# autre} other {# autres}}',
  manyOthers: 'beaucoup d’autres',
};

const deployed = defineDescriptor('Deployed', {
  description: 'A version went live.',
  fields: {
    serviceId: field.ref('service', { label: 'serviceName' }),
    serviceName: field.text(),
    minutes: field.int(),
  },
  summary: {
    en: '{actor} deployed {serviceId}',
    de: '{actor} hat {serviceId} ausgeliefert',
    fr: '{actor} a déployé {serviceId} en {minutes, number} min',
  },
  group: ['serviceId'],
  groupSummary: { fr: '{actor} {subjects, plural, one {a} other {ont}} déployé {serviceId}' },
});

function typeOf(config: unknown, name: string) {
  const type = checkHostConfig(config, 'fanfare.config.ts').types.find((one) => one.type === name);
  if (type === undefined) throw new Error(`There is no ${name}`);
  return type;
}

function faultsOf(wrong: unknown): readonly string[] {
  try {
    checkHostConfig(wrong, 'fanfare.config.ts');
  } catch (error) {
    if (!(error instanceof HostConfigError)) throw error;
    return error.faults.map(({ path, message }) => `${path}: ${message}`);
  }
  return [];
}

describe('a language added by a host', () => {
  const config = defineConfig({
    packs: ['social'],
    locales: {
      fr: {
        ...FRENCH,
        summaries: { Posted: '{actor} a publié {postId}' },
        groupSummaries: { Liked: '{actor} {subjects, plural, one {aime} other {aiment}} {objectId}' },
      },
      'fr-CA': { ...FRENCH, manyOthers: 'ben d’autres' },
    },
    descriptors: [deployed],
  });

  test('is served in addition to the built-in languages', () => {
    const { languages } = checkHostConfig(config, 'fanfare.config.ts');
    expect([...languages.keys()]).toEqual(['en', 'de', 'fr', 'fr-CA']);
  });

  test("is used for the host's types and for those of packs", () => {
    const values = { serviceId: 's', serviceName: 'Shop', minutes: 3 };
    expect(sentenceOf(typeOf(config, 'Deployed'), values, 'fr')).toBe('Ann a déployé Shop en 3 min');
    const post = { postId: 'p', postTitle: 'Hello' };
    expect(sentenceOf(typeOf(config, 'Posted'), post, 'fr')).toBe('Ann a publié Hello');
    expect(typeOf(config, 'Liked').groupSentence?.spoken('fr')).toBe('fr');
    expect(typeOf(config, 'Deployed').groupSentence?.values).toContain('subjects');
  });

  test('falls back to the language without its region, then to English', () => {
    const followed = typeOf(config, 'Followed');
    expect(followed.sentence.spoken('fr')).toBe('en');
    expect(sentenceOf(followed, { followedId: 'm', followedName: 'Mary' }, 'fr')).toBe('Ann followed Mary');
    expect(typeOf(config, 'Posted').sentence.spoken('fr-CA')).toBe('fr');
    expect(sentenceOf(typeOf(config, 'Posted'), { postId: 'p', postTitle: 'Hello' }, 'fr-CA')).toBe(
      'Ann a publié Hello',
    );
  });

  test('has its own plural forms for unnamed people', () => {
    const others = othersPhrase('fr', FRENCH);
    expect(others(1)).toBe('1 autre');
    expect(others(2)).toBe('2 autres');
    expect(others(null)).toBe('beaucoup d’autres');
  });
});

test.each([
  [undefined, 'en'],
  ['fr-BE', 'fr'],
  ['pt', 'pt-BR'],
  ['PT-br, fr;q=0.1', 'pt-BR'],
  ['it, fr;q=0.1', 'fr'],
  ['it', 'en'],
  ['*', 'en'],
  ['pt-PT', 'pt-BR'],
  ['de-x-old, fr', 'de'],
  ['not_a_tag, fr', 'fr'],
])('among English, German, French and Brazilian, a request for %j gets %s', (languages, expected) => {
  expect(bestLocale(languages, ['en', 'de', 'fr', 'pt-BR'])).toBe(expected);
});

test.each([
  ['zh-Hant-TW', 'zh-Hant'],
  ['zh-TW', 'zh-Hant'],
  ['zh-HK', 'zh-Hant'],
  ['zh-CN', 'zh-Hans'],
  ['zh', 'zh-Hans'],
  ['no', 'nb'],
  ['nn-NO', 'nb'],
  ['iw', 'he'],
  ['in', 'id'],
  ['pt-PT', 'pt-PT'],
  ['pt-AO', 'pt'],
  ['pt-BR', 'pt'],
  ['sr-Latn-RS', 'sr-Latn'],
  ['sr-RS', 'sr'],
  ['az-Cyrl, fr', 'en'],
  ['sr-Cyrl-ME;q=0.1, iw-IL;q=0.2', 'he'],
])('among many %s a request for %s is answered', (languages, expected) => {
  const served = ['en', 'zh-Hans', 'zh-Hant', 'nb', 'he', 'id', 'pt', 'pt-PT', 'sr', 'sr-Latn', 'az-Latn'];
  expect(bestLocale(languages, served)).toBe(expected);
});

describe('a language is rejected', () => {
  test.each([
    [
      'without its phrases',
      { fr: { manyOthers: 'beaucoup', formerMember: 'Ancien membre' } },
      'locales.fr.others: ',
    ],
    [
      'without a name for erased members',
      { fr: { others: '{count} autres', manyOthers: 'beaucoup' } },
      'locales.fr.formerMember: ',
    ],
    ['by a list', ['fr'], 'locales: '],
    ['under no tag', { french_: FRENCH }, 'locales.french_: "french_" is not a language tag'],
    ['under a tag that is written otherwise', { 'PT-br': FRENCH }, 'locales.PT-br: Must be written pt-BR'],
    [
      'that nobody knows',
      { qqq: FRENCH },
      'locales.qqq: This version of Node.js does not support the language',
    ],
    ['that comes with the server', { de: FRENCH }, 'locales.de: This language is built in'],
    [
      'with a phrase that is no message',
      { fr: { ...FRENCH, others: '{count, plural' } },
      'locales.fr.others: ',
    ],
    [
      'with a phrase about something else',
      { fr: { ...FRENCH, others: '{n} autres' } },
      'locales.fr.others: Unknown argument n in the message "{n} autres"',
    ],
    [
      'with sentences of no type',
      { fr: { ...FRENCH, summaries: { Nothing: 'x' } } },
      'locales.fr.summaries.Nothing: There is no such type',
    ],
    [
      'with a sentence that is no message',
      { fr: { ...FRENCH, summaries: { Posted: '{actor' } } },
      'locales.fr.summaries.Posted: ',
    ],
    [
      'with a sentence about a field that there is not',
      { fr: { ...FRENCH, summaries: { Posted: ['{actor}', '{actor} {what}'] } } },
      'locales.fr.summaries.Posted: Unknown field what in the message "{actor} {what}"',
    ],
    [
      'with a sentence about a group that shows what differs in it',
      { fr: { ...FRENCH, groupSummaries: { ApplicationRating: '{actor} {ratingScore}' } } },
      'locales.fr.groupSummaries.ApplicationRating: A sentence about a group cannot show ratingScore',
    ],
    [
      'with a sentence that the type has',
      { fr: { ...FRENCH, groupSummaries: { Deployed: '{actor}' } } },
      'locales.fr.groupSummaries.Deployed: The type itself already declares sentences in this language',
    ],
  ])('%s', (_what, locales, fault) => {
    const faults = faultsOf({ locales, descriptors: 'fr' in locales ? [deployed] : [] });
    expect(faults).toHaveLength(1);
    expect(faults[0]?.startsWith(fault)).toBe(true);
  });
});
