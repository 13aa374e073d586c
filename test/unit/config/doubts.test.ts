import { expect, test } from 'vitest';
import { doubtsOf } from '../../../src/config/doubts.ts';
import { readConfig } from '../../../src/config/read-config.ts';
import { BROUGHT } from '../../../src/app/brought.ts';

function doubts(env: Readonly<Record<string, string>>, isApi = true): string[] {
  const config = readConfig(env, BROUGHT);
  return doubtsOf(env, config, isApi).map(({ name, message }) => `${name} ${message}`);
}

test.each([
  ['MONGODB_URL', 'MONGODB_URI'],
  ['FEED_MODLE', 'FEED_MODEL'],
  ['Log_Level', 'LOG_LEVEL'],
  ['DATADIR', 'DATA_DIR'],
  ['JWT_SECRETS', 'JWT_SECRET'],
  ['RATE_LIMIT_TENNANT', 'RATE_LIMIT_TENANT'],
])('%s suggests the most similar setting: %s', (name, nearest) => {
  expect(doubts({ [name]: 'x' })).toEqual([`${name} is no setting: is ${nearest} meant?`]);
});

test('unrelated variables cause no warning, and neither does one beside the setting it resembles', () => {
  const others = {
    HOME: '/root',
    HOSTS: 'a',
    PORTS: '1',
    PATH: '/bin',
    NODE_OPTIONS: '',
    REDIS_HOST: 'b',
    LOGNAME: 'c',
  };
  expect(doubts(others)).toEqual([]);
  expect(doubts({ MONGODB_URL: 'of the platform', MONGODB_URI: 'mongodb://db' })).toEqual([]);
});

test('keys over http, and keys without an audience, cause a warning where tokens are verified', () => {
  const https = { JWKS_URI: 'https://id.example/keys' };
  expect(doubts(https)).toEqual([expect.stringMatching(/^JWKS_URI is set without JWT_AUDIENCE: /)]);
  expect(doubts({ JWKS_URI: 'http://id.example/keys', JWT_AUDIENCE: 'feeds' })).toEqual([
    expect.stringMatching(/^JWKS_URI is fetched by http: .* expected https$/),
  ]);
  expect(doubts({ ...https, JWT_AUDIENCE: 'feeds' })).toEqual([]);
  expect(doubts(https, false)).toEqual([]);
});

test('a provider of accounts whose tokens would be refused, or that no page leads to, causes a warning', () => {
  const given = {
    CONSOLE_OIDC_ISSUER: 'https://id.example',
    CONSOLE_OIDC_CLIENT_ID: 'console',
    JWKS_URI: 'https://id.example/keys',
    JWT_AUDIENCE: 'feeds',
  };
  expect(doubts({ ...given, JWT_ISSUER: 'https://id.example' })).toEqual([]);
  expect(doubts({ ...given, JWT_ISSUER: 'https://id.example/' })).toEqual([
    expect.stringMatching(/^JWT_ISSUER is another one than CONSOLE_OIDC_ISSUER: /),
  ]);
  expect(doubts({ ...given, CONSOLE: 'off' })).toEqual([
    'CONSOLE_OIDC_ISSUER is set while the console is off: expected CONSOLE=on',
  ]);
});
