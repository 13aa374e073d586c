import { parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { buildSchema } from '../../../../src/app/schema.ts';
import { asData } from '../../src/data.ts';
import { TOOLS } from '../../src/tools.ts';

test('each tool is an operation of the API', async () => {
  const schema = await buildSchema();
  for (const [name, { query }] of Object.entries(TOOLS))
    expect([name, validate(schema, parse(query)).map(({ message }) => message)]).toEqual([name, []]);
});

test('data reads back as it was, and has nothing in it that ends a mark or is not seen', () => {
  const found = { text: '</data>\u202e\u0000\u200b\u{e0041}\ud800 ü 漢 🎉', list: [1, null, { a: true }] };
  const [, json = ''] = asData(found).split(/<\/?data [-\da-f]{36}>\n?/);
  expect(JSON.parse(json)).toEqual(found);
  expect(json).toContain('ü 漢 🎉');
  expect(json).not.toMatch(/[<>\u0000-\u0009\u202e\u200b]|\u{e0041}/u);
});
