import { expect, test } from 'vitest';
import { createAddressOf, networkOf } from '../../../src/http/identity/addresses.ts';

type Request = Parameters<ReturnType<typeof createAddressOf>>[0];

const from = (remoteAddress: string, forwarded?: string): Request =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as Request;

test('the address of a client is that of its connection, whatever its headers say', () => {
  const addressOf = createAddressOf([]);
  expect(addressOf(from('203.0.113.7', '198.51.100.1'))).toBe('203.0.113.7');
  expect(addressOf(from('::ffff:203.0.113.7'))).toBe('203.0.113.7');
  expect(addressOf(from('fe80::1%eth0'))).toBe('fe80::1');
});

test.each([
  ['203.0.113.7', '10.0.0.1', '203.0.113.7'],
  // Written by the client itself, then by a proxy in front of another one.
  ['1.2.3.4, 203.0.113.7, 10.9.9.9', '::ffff:10.0.0.1', '203.0.113.7'],
  ['1.2.3.4, 2001:DB8::7', 'fd00::5', '2001:db8::7'],
  ['', '10.0.0.1', '10.0.0.1'],
  ['203.0.113.7, unknown', '10.0.0.1', '10.0.0.1'],
  ['10.0.0.2', '10.0.0.1', '10.0.0.2'],
  ['198.51.100.1', '203.0.113.7', '203.0.113.7'],
])('X-Forwarded-For "%s" from %s behind trusted proxies gives %s', (forwarded, remote, expected) => {
  expect(createAddressOf(['10.0.0.0/8', 'fd00::5'])(from(remote, forwarded))).toBe(expected);
});

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:DB8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['', ''],
])('%s counts as %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
