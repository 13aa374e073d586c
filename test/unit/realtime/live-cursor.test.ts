import { expect, test } from 'vitest';
import {
  CursorEncoder,
  cursorWithin,
  decodeLiveCursor,
  encodeLiveCursor,
  readerTag,
  splitCursor,
} from '../../../src/live/live-log.ts';

test('consecutive cursors of a reader equal those encoded alone, and can be decoded', () => {
  const tags = ['ann', 'bob'].map(readerTag);
  const encoders = tags.map((tag) => new CursorEncoder(tag));
  const generations = ['0123456789abcdef01234567', '0123456789abcdefffffffff', '0123456789abcdef01234567'];
  for (const generation of generations)
    for (const [at, sequence] of [
      [0, 0],
      [1_700_000_000_000, 1],
      [1_700_000_000_000, 2],
      [1_700_000_000_001, 2],
      [1_700_000_000_001, 10],
    ] as const)
      for (const [index, tag] of tags.entries()) {
        const position = { generation, at, sequence };
        const cursor = encoders[index]?.encode(position);
        expect(cursor).toBe(encodeLiveCursor(tag, position));
        expect(decodeLiveCursor(tag, cursor ?? '')).toEqual(position);
      }
});

test('encodes a generation of another length, as of a memory log or a test', () => {
  const encoder = new CursorEncoder('abcdefgh');
  for (const generation of ['g', 'ge', 'gen', ''])
    expect(encoder.encode({ generation, at: 5, sequence: 7 })).toBe(
      encodeLiveCursor('abcdefgh', { generation, at: 5, sequence: 7 }),
    );
});

test('a cursor within the messages of one event says how many of them are known, and is taken apart again', () => {
  const tag = readerTag('ann');
  const position = { generation: '0123456789abcdef01234567', at: 1_700_000_000_000, sequence: 7 };
  const before = encodeLiveCursor(tag, position);
  expect(splitCursor(before)).toEqual({ before, parts: 0 });
  expect(cursorWithin(before, 0)).toBe(before);
  for (const parts of [1, 6, 12]) {
    const cursor = cursorWithin(before, parts);
    expect(splitCursor(cursor)).toEqual({ before, parts });
    expect(decodeLiveCursor(tag, cursor)).toEqual({ ...position, parts });
    expect(new CursorEncoder(tag).encode({ ...position, parts })).toBe(cursor);
  }
  for (const text of ['+0', '+', '+01', '+100', '+1+1'])
    expect(
      decodeLiveCursor(
        tag,
        Buffer.from(`${Buffer.from(before, 'base64url').toString()}${text}`).toString('base64url'),
      ),
    ).toBeNull();
});
