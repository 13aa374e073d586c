import { describe, expect, test } from 'vitest';
import { JsonMeter, type JsonBounds } from '../../../src/lib/json-meter.ts';
import { fc } from '../../support/fast-check.ts';

const BOUNDS: JsonBounds = { maxDepth: 3, maxEntries: 4, maxValues: 8, maxTextBytes: 5 };
const UNBOUND: JsonBounds = { maxDepth: 1_000, maxEntries: 1e6, maxValues: 1e6, maxTextBytes: 1e6 };

function faultOf(text: string, bounds: Partial<JsonBounds> = {}, chunk = Infinity): string | null {
  const meter = new JsonMeter({ ...BOUNDS, ...bounds });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += chunk) {
    const fault = meter.read(bytes.subarray(at, at + chunk));
    if (fault !== null) return fault;
  }
  return null;
}

describe.each([Infinity, 1])('JSON in chunks of %d bytes', (chunk) => {
  test.each([
    '',
    '1',
    '[[[]]]',
    '[[],[],[1]]',
    '{"a":1,"b":2,"c":3,"d":4}',
    '["]]]]]", "[[[[["]',
    '"a,,,,"',
    String.raw`["\"\"","\\",","]`,
    '"12345"',
    ']]]]][[[]]]',
  ])('%s is within the limits', (text) => {
    expect(faultOf(text, {}, chunk)).toBeNull();
  });

  test.each([
    ['[[[[', /more than 3 levels/],
    ['{"a":{"a":{"a":{', /more than 3 levels/],
    [']]]]][[[[', /more than 3 levels/],
    ['[1,2,3,4,', /more than 4 entries/],
    ['{"a":1,"b":2,"c":3,"d":4,', /more than 4 entries/],
    ['[[1,2,3],[1,2,3],', /more than 8 values/],
    ['[[],[],[],[[],[]]', /more than 8 values/],
    ['"123456', /longer than 5 bytes/],
    [String.raw`"\"\"\"`, /longer than 5 bytes/],
    ['{"123456":', /longer than 5 bytes/],
    ['"€€', /longer than 5 bytes/],
  ])('%s exceeds them before its end', (text, fault) => {
    expect(faultOf(text, {}, chunk)).toMatch(fault);
  });
});

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

test('measures the depth of any JSON', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), fc.integer({ min: 1, max: 7 }), (text, chunk) => {
      const depth = depthOf(JSON.parse(text));
      expect(faultOf(text, { ...UNBOUND, maxDepth: depth }, chunk)).toBeNull();
      if (depth > 0) expect(faultOf(text, { ...UNBOUND, maxDepth: depth - 1 }, chunk)).toMatch(/levels deep/);
    }),
  );
});

test('measures serialised texts, however long and wherever they are escaped', () => {
  const piece = fc.constantFrom('"', '\\', '\\"', 'x'.repeat(31), 'x'.repeat(32), 'x'.repeat(90), '[,{', '€');
  const texts = fc.array(fc.array(piece, { maxLength: 12 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 400 }), (pieces, chunk) => {
      const values = pieces.map((some) => some.join(''));
      const text = JSON.stringify(values);
      const longest = Math.max(...values.map((value) => Buffer.byteLength(JSON.stringify(value)) - 2));
      const bounds = { maxDepth: 1, maxEntries: values.length, maxValues: 1 + values.length };
      expect(faultOf(text, { ...bounds, maxTextBytes: longest }, chunk)).toBeNull();
      if (longest > 0)
        expect(faultOf(text, { ...bounds, maxTextBytes: longest - 1 }, chunk)).toMatch(/longer than/);
      if (values.length > 1)
        expect(
          faultOf(text, { ...bounds, maxTextBytes: longest, maxEntries: values.length - 1 }, chunk),
        ).toMatch(/entries/);
    }),
  );
});
