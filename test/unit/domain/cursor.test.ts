import { expect, test } from 'vitest';
import {
  decodeCursor,
  decodeGroups,
  decodePosition,
  decodeRanked,
  encodeCursor,
  encodeGroups,
  encodePosition,
  encodeRanked,
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
    expect(thrownBy(() => decodeCursor('feed:a', bad))).toEqual(badCursor);
  },
);

test('rejects a well-formed cursor whose payload is not a position', () => {
  const cursor = encodeCursor('feed:a', Buffer.from('too short'));
  expect(thrownBy(() => decodePosition('feed:a', cursor))).toEqual(badCursor);
});

test('decodes every ranked position, and rejects it where another kind is expected', () => {
  const ranked = fc.record({
    generation: time,
    zone: fc.constantFrom('ranked' as const, 'older' as const),
    value: fc.double({ noNaN: true }),
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
  expect(thrownBy(() => decodeGroups('a', encodeCursor('a', Buffer.alloc(25))))).toEqual(badCursor);
  expect(thrownBy(() => decodeGroups('a', encodeCursor('a', Buffer.alloc(14))))).toEqual(badCursor);
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
