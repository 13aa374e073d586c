import { describe, expect, it } from 'vitest';
import { hashSlot, spreadTags } from '../../../src/connections/redis-parts.ts';
import { describeAddress, readRedisUrl } from '../../../src/connections/redis.ts';

describe('a Redis URL', () => {
  it('has one or several hosts, a user, a password and a database', () => {
    expect(readRedisUrl('redis://one')).toEqual({
      hosts: [{ host: 'one', port: 6379 }],
      isTls: false,
      db: 0,
    });
    expect(readRedisUrl('rediss://ann:p%40ss:word@one:1,two.example:2,[::1]:3/4')).toEqual({
      hosts: [
        { host: 'one', port: 1 },
        { host: 'two.example', port: 2 },
        { host: '::1', port: 3 },
      ],
      ...{ isTls: true, username: 'ann', password: 'p@ss:word', db: 4 },
    });
  });

  it('can name a Unix socket', () => {
    const address = readRedisUrl('redis://:secret@localhost/2?path=%2Fhome%2Fann%2Fa%20b.sock');
    expect(address).toMatchObject({ path: '/home/ann/a b.sock', password: 'secret', db: 2 });
    expect(describeAddress(address)).toBe('/home/ann/a b.sock');
  });

  it('is shown without its password', () => {
    const address = readRedisUrl('rediss://ann:secret@one:1,[::1]:3/4');
    expect(describeAddress(address)).toBe('rediss://one:1,[::1]:3/4');
  });

  it.each(['http://one', 'one:6379', 'redis://', 'redis://one:x', 'redis://one,', 'redis://a:b:c'])(
    'is rejected if it is not a URL: %s',
    (url) => {
      expect(() => readRedisUrl(url)).toThrow(/URL of Redis/);
    },
  );

  it.each([
    'redis://one/?db=1',
    'redis://one?path=',
    'redis://one/one',
    'redis://:se/cret@one',
    'redis://:se@cret@one',
  ])('is rejected with the actual fault, not its scheme: %s', (url) => {
    expect(() => readRedisUrl(url)).toThrow(/must be like redis:.*nothing may follow the database number/);
    expect(() => readRedisUrl(url)).not.toThrow(/cret/);
  });
});

describe('hash slots', () => {
  // The examples of the specification of Redis Cluster, and the check value of CRC16/XMODEM.
  it('equal those of Redis Cluster', () => {
    expect(hashSlot('123456789')).toBe(0x31c3);
    expect(hashSlot('foo')).toBe(12_182);
    expect(hashSlot('user1000')).toBe(3_443);
  });

  it("of an installation's partitions are spread evenly", () => {
    const slots = spreadTags('fanfare:fanfare:', 16).map(hashSlot);
    expect(slots.map((slot) => Math.floor(slot / 1_024))).toEqual(Array.from({ length: 16 }, (_, n) => n));
  });
});
