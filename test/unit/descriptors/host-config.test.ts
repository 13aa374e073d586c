import { describe, expect, test } from 'vitest';
import { defineDescriptor } from '../../../src/descriptors/declare.ts';
import { field } from '../../../src/descriptors/field.ts';
import { checkHostConfig, defineConfig, HostConfigError } from '../../../src/descriptors/host-config.ts';
import { concernedByDescriptor, refsOfDescriptor } from '../../../src/descriptors/names.ts';
import { descriptorTypes, useDescriptors } from '../../../src/descriptors/registry.ts';
import { sentenceOf } from '../../support/sentence.ts';

const FILE = 'fanfare.config.ts';

const buildFailed = defineDescriptor('BuildFailed', {
  description: 'A build broke.',
  fields: {
    repoId: field.ref('repo', { label: 'repoName', indexed: true }),
    repoName: field.text(),
    authorId: field.person({ name: 'authorName', concerned: true }),
    authorName: field.text({ optional: true }),
    branch: field.text({ max: 200 }),
    minutes: field.int({ min: 0, optional: true }),
    stage: field.enum(['TEST', 'DEPLOY'], { optional: true }),
    isNight: field.boolean({ optional: true }),
    startedAt: field.dateTime({ optional: true }),
  },
  summary: { en: '{authorId} broke {branch} of {repoId}' },
  group: ['repoId', 'branch'],
});

const config = defineConfig({
  packs: ['social'],
  reactions: ['👍', '😕'],
  descriptors: [buildFailed],
});

function faultsOf(wrong: unknown): readonly string[] {
  try {
    checkHostConfig(wrong, FILE);
  } catch (error) {
    if (!(error instanceof HostConfigError)) throw error;
    return error.faults.map(({ path, message }) => `${path}: ${message}`);
  }
  return [];
}

/** The faults of a type with these fields and what else is given. */
function faultsOfType(fields: unknown, more: object = {}): readonly string[] {
  const type = { type: 'Thing', description: 'A thing.', fields, summary: { en: '{actor} did' }, ...more };
  return faultsOf({ descriptors: [type] });
}

describe('a host configuration', () => {
  test('adds the types of its packs, its own types and Custom', () => {
    const { types, reactions } = checkHostConfig(config, FILE);
    expect(types.map(({ type }) => type)).toEqual([
      ...['Posted', 'Followed', 'Liked', 'Commented', 'Custom'],
      'BuildFailed',
    ]);
    expect(reactions).toEqual(['👍', '😕']);
  });

  test('has all packs and the default reactions if it names none', () => {
    const { types, reactions } = checkHostConfig(defineConfig({}), FILE);
    expect(types.map(({ type }) => type)).toEqual(descriptorTypes().map(({ type }) => type));
    expect(reactions).toBeNull();
  });

  test('reports all faults together, each with file and path', () => {
    const wrong = {
      packs: ['recruitment'],
      reactions: [],
      theme: 'dark',
      descriptors: [
        { ...buildFailed, summary: { en: '{who} broke {branch', de: '{actor} hat {was} zerbrochen' } },
        defineDescriptor('reviewed', { description: 'No.', fields: {}, summary: { en: 'No.' } }),
        'Deployed',
      ],
    };
    expect(() => checkHostConfig(wrong, FILE)).toThrow(/^fanfare\.config\.ts has 7 faults:\n {2}theme: /);
    expect(faultsOf(wrong)).toEqual([
      'theme: Unknown setting; known are packs, reactions, locales, descriptors, notifications, views, beforePublish, beforeInteract',
      'packs[0]: Unknown pack "recruitment"; known are recruiting, social',
      expect.stringMatching(/^reactions: Expected 1 to 50 different emoji/),
      'descriptors[0] BuildFailed.summary.en: "{who} broke {branch" is not a valid ICU message: EXPECT_ARGUMENT_CLOSING_BRACE',
      'descriptors[0] BuildFailed.summary.de: Unknown field was in the message "{actor} hat {was} zerbrochen"',
      'descriptors[1] reviewed.type: "reviewed" is not a valid type name: start with a capital letter, then letters and digits, at most 64 characters',
      expect.stringMatching(/^descriptors\[2\]: /),
    ]);
  });

  test('reports faults of views by name', () => {
    const label = { en: 'A' };
    const views = {
      noLabel: {},
      'not a name': { label },
      german: { label: { de: 'A' } },
      long: { label, window: '99999d' },
      odd: { label, window: '1w', counts: 1 },
      groups: { label, order: 'RECENT', grouped: true },
      fine: { label, order: 'RECENT', window: '7d', filter: { not: { tags: ['a'] } } },
    };
    expect(faultsOf({ views })).toEqual([
      'views.noLabel.label: Invalid input: expected record, received undefined',
      'views.not a name: A name must be 1 to 40 letters, digits and _, beginning with a letter',
      'views.german.label: Must have a label for en',
      'views.long.window: Must be at most ten years',
      'views.odd.window: Must be a number of minutes, hours or days, such as 30m, 12h or 7d',
      'views.odd.counts: Invalid input: expected boolean, received number',
      'views.groups.grouped: Groups are in order of relevancy: leave out order or grouped',
    ]);
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`v${String(n)}`, { label }]));
    expect(faultsOf({ views: many })).toEqual(['views: Must be at most 20 views']);
    expect(faultsOf({ views: { v: { label } } })).toEqual([]);
  });

  test.each([null, [], 'config', undefined])('is rejected if it is %j', (wrong) => {
    expect(faultsOf(wrong)).toEqual([': Must be an object, as defineConfig() takes it']);
  });

  test('rejects a type whose input would be a property of every object', () => {
    expect(faultsOf({ descriptors: [{ ...buildFailed, type: 'Constructor' }] })).toEqual([
      'descriptors[0] Constructor.type: Inputs would have the property constructor, a name used by every JavaScript object',
    ]);
  });

  test('rejects a duplicate type', () => {
    expect(faultsOf({ descriptors: [buildFailed, buildFailed] })).toEqual([
      'descriptors[1] BuildFailed: The type BuildFailed is already declared, here or in a pack',
    ]);
    const posted = defineDescriptor('Posted', { description: 'P.', fields: {}, summary: { en: 'P.' } });
    expect(faultsOf({ descriptors: [posted] })).toHaveLength(1);
    expect(faultsOf({ packs: [], descriptors: [posted] })).toEqual([]);
  });

  test('rejects more indexed fields than the database allows', () => {
    const fields = Object.fromEntries(
      Array.from({ length: 17 }, (_, n) => [`id${String(n)}`, field.id({ indexed: true })]),
    );
    expect(faultsOfType(fields, {})).toEqual([
      'descriptors: Must have at most 16 different indexed field names, got 18',
    ]);
  });
});

describe('the declaration of a type rejects', () => {
  const at = (path: string) => `descriptors[0] Thing.${path}`;

  test.each([
    ['a kind that there is not', { a: { kind: 'money', options: {} } }, 'fields.a.kind: '],
    ['an option that there is not', { a: { kind: 'text', options: { maximum: 5 } } }, 'fields.a: Unrecog'],
    ['a length beyond all', { a: field.text({ max: 9_000 }) }, 'fields.a.max: '],
    [
      'a range that is empty',
      { a: field.int({ min: 2, max: 1 }) },
      'fields.a.min: 2 is above max, which is 1',
    ],
    ['a whole number of more than 32 bits', { a: field.int({ max: 2 ** 31 }) }, 'fields.a.max: '],
    [
      'a name that every descriptor has',
      { tags: field.text() },
      'fields.tags: This name is used by every descriptor',
    ],
    [
      'a name that every object has',
      { constructor: field.text() },
      'fields.constructor: This name is used by every JavaScript object',
    ],
    ['a name that GraphQL does not take', { 'a-b': field.text() }, 'fields.a-b: A field name starts with '],
    [
      'a value that GraphQL does not take',
      { a: field.enum(['A', 'b c']) },
      'fields.a.values[1]: "b c" is not a valid name',
    ],
    ['a value that is there twice', { a: field.enum(['A', 'A']) }, 'fields.a.values[1]: A occurs twice'],
    [
      'a label that there is not',
      { a: field.ref('r', { label: 'b' }) },
      'fields.a.label: There is no field b',
    ],
    [
      'a name that is no text',
      { a: field.person({ name: 'b' }), b: field.int() },
      'fields.a.name: b is not a text field',
    ],
    [
      'a name of two things',
      { a: field.id({ label: 'c' }), b: field.id({ label: 'c' }), c: field.text() },
      'fields.b.label: c already holds the name of a',
    ],
    [
      'a name with a length of its own',
      { a: field.id({ label: 'b' }), b: field.text({ max: 5 }) },
      'fields.a.label: b holds a name, which has 1 to 512 characters',
    ],
  ])('%s', (_what, fields, fault) => {
    const faults = faultsOfType(fields);
    expect(faults).toHaveLength(1);
    expect(faults[0]?.startsWith(at(fault))).toBe(true);
  });

  test.each([
    ['a group by nothing', { group: [] }, 'group: '],
    ['a group by a field that there is not', { group: ['b'] }, 'group[0]: There is no field b'],
    ['an activity that there is not', { activity: 'Paint' }, 'activity: Must be {field} or one of Accept, '],
    ['an activity by no text', { activity: '{data}' }, 'activity: There is no text field data'],
    ['a group by free data', { group: ['data'] }, 'group[0]: data is no single value'],
    ['no English', { summary: { de: '{actor}' } }, 'summary.en: Must be a message'],
    [
      'a language that is not served',
      { summary: { en: '{actor}', fr: '{actor}' } },
      'summary: Unknown language fr; known are en, de. `locales` adds others',
    ],
    [
      'a sentence about a group that shows what differs in it',
      { group: ['a'], summary: { en: '{actor} did {n}' } },
      'groupSummary.en: A sentence about a group cannot show n, in which its actions differ: ' +
        'give one here without n; if there is none, the summary is used. Or add n to group',
    ],
    [
      'a sentence about a group that shows free data, by which none is made',
      { group: ['a'], summary: { en: '{actor}' }, groupSummary: { en: '{actor} did {data}' } },
      'groupSummary.en: A sentence about a group cannot show data, in which its actions differ: ' +
        'give one here without data; if there is none, the summary is used.',
    ],
  ])('%s', (_what, more, fault) => {
    const fields = { a: field.text(), n: field.int(), data: field.json() };
    const faults = faultsOfType(fields, more);
    expect(faults).toHaveLength(1);
    expect(faults[0]?.startsWith(at(fault))).toBe(true);
  });
});

describe('a declared type', () => {
  const values = { repoId: 'r1', repoName: 'Web', authorId: 'ann', authorName: 'Ann', branch: 'main' };
  const type = checkHostConfig(config, FILE).types.find((one) => one.type === 'BuildFailed');
  if (type === undefined) throw new Error('It is not there');

  test('accepts values of its kinds only', () => {
    const startedAt = new Date('2024-01-31T12:00:00Z');
    const all = { ...values, minutes: 3, stage: 'TEST', isNight: true, startedAt };
    expect(type.schema.parse(all)).toEqual({ ...all, tags: [] });
    expect(type.schema.parse({ ...all, startedAt: '2024-01-31T13:00:00+01:00' })).toEqual({
      ...all,
      tags: [],
    });
    for (const wrong of [
      { minutes: 1.5 },
      { minutes: -1 },
      { minutes: '3' },
      { stage: 'BUILD' },
      { isNight: 1 },
      { startedAt: 'yesterday' },
      { startedAt: new Date(Number.NaN) },
      { branch: 'b'.repeat(201) },
      { repoName: '' },
    ])
      expect(type.schema.safeParse({ ...all, ...wrong }).success).toBe(false);
  });

  test('falls back to English for other languages', () => {
    expect(sentenceOf(type, values, 'de')).toBe('Ann broke main of Web');
    expect(type.sentence.spoken('de')).toBe('en');
  });

  test('is registered when first used, and cannot be replaced afterwards', () => {
    // What is asked for first decides: `descriptorTypes` above has.
    expect(() => useDescriptors(checkHostConfig(config, FILE))).toThrow(
      'fanfare.config.ts declares other types or languages than this process already uses',
    );
    useDescriptors(checkHostConfig({}, FILE));
  });

  test('creates no refs if it declares none', () => {
    const stored = { type: 'BuildFailed', tags: [], ...values };
    expect(refsOfDescriptor(stored)).toEqual([]);
    expect(concernedByDescriptor(stored)).toEqual([]);
  });
});
