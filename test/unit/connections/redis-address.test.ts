import { describe, expect, it } from 'vitest';
import { hashSlot, spreadTags } from '../../../src/connections/hash-slot.ts';
import { describeAddress, readRedisUrl } from '../../../src/connections/redis-address.ts';

describe('the URL of Redis', () => {
  it('has one host or several, with user, password and database', () => {
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

  it('may name a socket of this machine', () => {
    const address = readRedisUrl('redis://:secret@localhost/2?path=%2Fhome%2Fann%2Fa%20b.sock');
    expect(address).toMatchObject({ path: '/home/ann/a b.sock', password: 'secret', db: 2 });
    expect(describeAddress(address)).toBe('/home/ann/a b.sock');
  });

  it('is shown without its password', () => {
    const address = readRedisUrl('rediss://ann:secret@one:1,[::1]:3/4');
    expect(describeAddress(address)).toBe('rediss://one:1,[::1]:3/4');
  });

  it.each(['http://one', 'one:6379', 'redis://', 'redis://one:x', 'redis://one,', 'redis://a:b:c'])(
    'is refused where it is none: %s',
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
  ])('is refused for what is wrong with it, which is not how it starts: %s', (url) => {
    expect(() => readRedisUrl(url)).toThrow(/must be like redis:.*nothing may follow the database number/);
    expect(() => readRedisUrl(url)).not.toThrow(/cret/);
  });
});

describe('hash slots', () => {
  // The examples of the specification of Redis Cluster, and the check value of CRC16/XMODEM.
  it('are those of Redis Cluster', () => {
    expect(hashSlot('123456789')).toBe(0x31c3);
    expect(hashSlot('foo')).toBe(12_182);
    expect(hashSlot('user1000')).toBe(3_443);
  });

  it('of the parts of an installation are spread evenly', () => {
    const slots = spreadTags('fanfare:fanfare:', 16).map(hashSlot);
    expect(slots.map((slot) => Math.floor(slot / 1_024))).toEqual(Array.from({ length: 16 }, (_, n) => n));
  });
});
