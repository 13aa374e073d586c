import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  compileRank,
  RANK_VARIABLES,
  type RankVariables,
} from '../../../src/features/ranking/rank-expression.ts';

const ITEM: RankVariables = {
  ...{ ageHours: 2, likes: 3, comments: 1, reshares: 0, reactions: 4, isFollowed: true, relationship: 0.5 },
  ...{ reasons: ['MENTION', 'FOLLOW'], actionType: 'Posted', tags: ['news', 'sport'], impressions: 0 },
  descriptor: { rating: 5 },
};

test.each([
  ['likes * 3.0 + comments * 5.0 - ageHours * 0.7 + (isFollowed ? 2.0 : 0.0)', 9 + 5 - 1.4 + 2],
  ['type == "Posted" ? 1.0 : 0.0', 1],
  ['(type == "type" ? 1.0 : 0.0) + (type != "Liked" ? 0.5 : 0.0)', 0.5],
  ['"sport" in tags ? 1.5 : 0.0', 1.5],
  ['tags.exists(t, t.startsWith("sp")) && "MENTION" in reasons ? 2.0 : 0.0', 2],
  ['double(size(tags)) * relationship', 1],
  ['reasons.filter(one, one == type).size()', 0],
  ['-likes', -3],
])('%s', (expression, value) => {
  expect(compileRank(expression).valueOf(ITEM)).toBeCloseTo(value, 10);
});

test('an item for which an expression has no value has none', () => {
  for (const expression of [
    '1.0 / impressions',
    'double(1 / int(impressions))',
    'tags[2] == "x" ? 1.0 : 2.0',
  ])
    expect([expression, compileRank(expression).valueOf(ITEM)]).toEqual([expression, null]);
});

test.each([
  [
    'likes * 3',
    'no such overload: double * int: all numbers of an item are of the type double, so write 3.0',
  ],
  ['likes +', 'Unexpected token: EOF'],
  ['hates * 2.0', 'Unknown variable: hates'],
  ['descriptor.nope + 1.0', 'No such key: nope'],
  ['isFollowed', 'Must be a number, but is a bool'],
  ['type', 'Must be a number, but is a string'],
  ['"a".matches("(a+)+$") ? 1.0 : 0.0', 'matches() is not available'],
  ['[1.0, 2.0].map(x, x)[0]', 'map() is available for tags and reasons alone'],
  [
    'tags.exists(t, reasons.exists(r, r == t)) ? 1.0 : 0.0',
    'exists() is available for tags and reasons alone',
  ],
  ['tags.map(t, t).map(t, t).size()', 'map() is available for tags and reasons alone'],
  [Array.from({ length: 120 }, () => 'likes').join(' + '), 'Exceeded maxAstNodes (200)'],
  [`${'('.repeat(60)}likes${')'.repeat(60)}`, 'Exceeded maxDepth (50)'],
  [' '.repeat(2_001), 'Must be at most 2000 characters'],
  ['', 'Unexpected token: EOF'],
])('fault %#', (expression, message) => {
  expect(() => compileRank(expression)).toThrow(message);
});

test('the documentation has each variable with its type and meaning', () => {
  const docs = readFileSync('docs/feeds.md', 'utf8').replace(/ +\|/g, ' |');
  for (const [name, [type, meaning]] of Object.entries(RANK_VARIABLES))
    expect(docs).toContain(`| \`${name}\` | \`${type}\` | ${meaning} |`);
});
