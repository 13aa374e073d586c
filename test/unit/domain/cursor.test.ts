import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  decodeId,
  decodeGroups,
  decodePosition,
  decodeRanked,
  decodeRow,
  decodePlace,
  encodeGroups,
  encodePosition,
  encodeRanked,
  encodeRow,
  groupMark,
  positionAbove,
} from '../../../src/domain/cursor.ts';
import { compareFeedPositions } from '../../../src/domain/newsfeed-item.ts';
import { fc } from '../../support/fast-check.ts';

const hexId = fc
  .uint8Array({ minLength: 12, maxLength: 12 })
  .map((bytes) => Buffer.from(bytes).toString('hex'));
const time = fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true });
const position = fc.record({ time, actionId: hexId });
const badCursor = expect.objectContaining({ code: 'BAD_CURSOR' }) as unknown;

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return null;
}

/** What somebody who has read the code can send: any content with the right checksum. */
function forged(list: string, payload: Uint8Array): string {
  const sum = createHash('sha256').update(`${list}\0`).update(payload).digest().subarray(0, 6);
  return Buffer.concat([Buffer.from([1]), sum, payload]).toString('base64url');
}

const DECODERS = {
  position: (cursor: string) => decodePosition('a', cursor),
  groups: (cursor: string) => decodeGroups('a', cursor),
  ranked: (cursor: string) => decodeRanked('a', cursor),
  place: (cursor: string) => decodePlace('a', cursor, 12),
  id: (cursor: string) => decodeId('a', cursor),
  text: (cursor: string) => decodeRow('a', cursor, ['text']),
  row: (cursor: string) => decodeRow('a', cursor, ['number', 'time', 'id']),
};

/** Whether all numbers and times in a value are such, and all texts whole. */
function isSound(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (value instanceof Date) return !Number.isNaN(new Date(value.getTime() + 1).getTime());
  return typeof value === 'object' && value !== null && Object.values(value).every(isSound);
}

test.each(Object.entries(DECODERS))('a forged %s is refused, or has the form of one', (name, decode) => {
  const json = fc.oneof(
    fc.jsonValue(),
    fc.array(fc.oneof(fc.jsonValue(), fc.double(), fc.string()), { maxLength: 4 }),
  );
  const payload = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc
      .constantFrom(12, 20, 26, 29, 32)
      .chain((length) => fc.uint8Array({ minLength: length, maxLength: length })),
    json.map((value) => Buffer.from(JSON.stringify(value))),
    fc
      .constantFrom(
        '',
        '{',
        '[]',
        '[null]',
        '["\\u0000"]',
        '["\\ud800"]',
        '[1e999,0,""]',
        '[1,1e300,""]',
        '[[],{},0]',
      )
      .map((text) => Buffer.from(text)),
  );
  fc.assert(
    fc.property(payload, (bytes) => {
      const cursor = forged('a', bytes);
      let value: unknown = null;
      const thrown = thrownBy(() => (value = decode(cursor)));
      if (thrown !== null) expect(thrown).toEqual(badCursor);
      // Marks of groups are bytes.
      else expect(name === 'groups' ? isSound((value as { time: Date }).time) : isSound(value)).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

test('decodes every row as it was encoded', () => {
  const text = fc.string({ unit: 'grapheme' }).filter((some) => !some.includes('\0'));
  fc.assert(
    fc.property(fc.integer(), time, hexId, text, (number, at, id, some) => {
      const cursor = encodeRow('a', [number, at, id, some]);
      expect(decodeRow('a', cursor, ['number', 'time', 'id', 'text'])).toEqual([number, at, id, some]);
      expect(thrownBy(() => decodeRow('a', cursor, ['number', 'time', 'id']))).toEqual(badCursor);
      expect(thrownBy(() => decodeRow('a', cursor, ['text', 'time', 'id', 'text']))).toEqual(badCursor);
    }),
  );
});

test('decodes every position as it was encoded', () => {
  fc.assert(
    fc.property(fc.string(), position, (list, cursor) => {
      expect(decodePosition(list, encodePosition(list, cursor))).toEqual(cursor);
    }),
  );
});

test('a cursor of an earlier release equals the current one', () => {
  const cursor = { time: new Date(1_700_000_000_000), actionId: '0123456789abcdef01234567' };
  expect(encodePosition('feed:zoë', cursor)).toBe('AboOyhEnj0J4vP5WgAAAASNFZ4mrze8BI0Vn');
});

test('rejects a cursor of another list', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), position, (list, other, cursor) => {
      fc.pre(list !== other);
      expect(thrownBy(() => decodePosition(other, encodePosition(list, cursor)))).toEqual(badCursor);
    }),
  );
});

test('rejects a cursor with any character changed, removed or added', () => {
  fc.assert(
    fc.property(position, fc.nat(), fc.base64String({ minLength: 4, maxLength: 4 }), (cursor, at, other) => {
      const good = encodePosition('feed:a', cursor);
      const i = at % good.length;
      const replaced = good.slice(0, i) + other.charAt(0) + good.slice(i + 1);
      fc.pre(replaced !== good);
      for (const bad of [replaced, good.slice(0, i), good + other, other + good])
        expect(thrownBy(() => decodePosition('feed:a', bad))).toEqual(badCursor);
    }),
  );
});

test.each(['', ' ', 'x', '=', '%00', 'AQ', '{"$gt":""}', 'A'.repeat(10_000), 'é', '__proto__'])(
  'rejects %j as a cursor',
  (bad) => {
    expect(thrownBy(() => decodePosition('feed:a', bad))).toEqual(badCursor);
    expect(thrownBy(() => decodeRow('feed:a', bad, ['text']))).toEqual(badCursor);
  },
);

test('rejects a well-formed cursor whose payload is not a position', () => {
  const cursor = forged('feed:a', Buffer.from('too short'));
  expect(thrownBy(() => decodePosition('feed:a', cursor))).toEqual(badCursor);
});

test('decodes every ranked position, and rejects it where another kind is expected', () => {
  const ranked = fc.record({
    generation: time,
    since: time,
    zone: fc.constantFrom('ranked' as const, 'older' as const),
    value: fc.double({ noNaN: true, noDefaultInfinity: true }),
    actionId: hexId,
  });
  fc.assert(
    fc.property(fc.string(), ranked, (list, cursor) => {
      expect(decodeRanked(list, encodeRanked(list, cursor))).toEqual(cursor);
      expect(thrownBy(() => decodePosition(list, encodeRanked(list, cursor)))).toEqual(badCursor);
    }),
  );
});

test('a groups cursor remembers the latest 200 groups, and accepts one of an earlier release without any', () => {
  fc.assert(
    fc.property(fc.string(), position, fc.nat({ max: 250 }), (list, cursor, length) => {
      const listed = Array.from({ length }, (_, n) => groupMark(list, String(n)));
      expect(decodeGroups(list, encodeGroups(list, { ...cursor, listed }))).toEqual({
        ...cursor,
        listed: listed.slice(-200),
      });
      expect(decodeGroups(list, encodePosition(list, cursor))).toEqual({ ...cursor, listed: [] });
    }),
  );
  expect(thrownBy(() => decodeGroups('a', forged('a', Buffer.alloc(25))))).toEqual(badCursor);
  expect(thrownBy(() => decodeGroups('a', forged('a', Buffer.alloc(14))))).toEqual(badCursor);
});

test('a page that starts at the position above an item starts with that item', () => {
  const some = fc.oneof(
    hexId,
    fc.constantFrom('f'.repeat(24), '0'.repeat(24), `${'0'.repeat(12)}${'f'.repeat(12)}`),
  );
  const bounded = fc.date({ min: new Date(0), max: new Date('9999-01-01'), noInvalidDate: true });
  fc.assert(
    fc.property(bounded, some, some, (at, actionId, other) => {
      const above = positionAbove({ time: at, actionId });
      const position = { relevancy: above.time, actionId: above.actionId };
      expect(compareFeedPositions(position, { relevancy: at, actionId })).toBeLessThan(0);
      fc.pre(other > actionId);
      expect(compareFeedPositions(position, { relevancy: at, actionId: other })).toBeGreaterThanOrEqual(0);
    }),
  );
});
