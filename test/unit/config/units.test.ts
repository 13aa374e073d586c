import { describe, expect, it } from 'vitest';
import { parseDuration, parseSize } from '../../../src/config/units.ts';

describe('parseDuration', () => {
  it.each([
    ['0ms', 0],
    ['500ms', 500],
    ['30s', 30_000],
    ['1.5h', 5_400_000],
    ['5 m', 300_000],
    ['7d', 604_800_000],
    ['2w', 1_209_600_000],
  ])('reads %s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', '7', 's', '-1s', '1e3s', '1s 2ms', '1 month', 'constructor', '9007199254740993w'])(
    'rejects "%s"',
    (text) => {
      expect(parseDuration(text)).toBeNull();
    },
  );
});

describe('parseSize', () => {
  it.each([
    ['1B', 1],
    ['1kB', 1_000],
    ['512KiB', 524_288],
    ['1MiB', 1_048_576],
    ['0.5gib', 536_870_912],
  ])('reads %s', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });

  it.each(['', '1', '1M', '-1MiB', '1 Mi B'])('rejects "%s"', (text) => {
    expect(parseSize(text)).toBeNull();
  });
});
