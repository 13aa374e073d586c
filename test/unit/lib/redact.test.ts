import { describe, expect, it } from 'vitest';
import { redact } from '../../../src/lib/redact.ts';

const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1MSJ9.c2lnbmF0dXJl';

describe('redact', () => {
  it.each([
    ['mongodb://bob:pa55@db:27017/x?a=1', 'mongodb://bob:***@db:27017/x?a=1'],
    ['redis://:pa55@cache/0', 'redis://:***@cache/0'],
    ['mongodb+srv://b:p%40@h1,h2/', 'mongodb+srv://b:***@h1,h2/'],
    ['authorization: Bearer abc.def', 'authorization: Bearer ***'],
    [`token ${JWT} was refused`, 'token *** was refused'],
    ['{"authorization":"Basic abc","a":1}', '{"authorization":"***","a":1}'],
    ['{"deep":{"Set-Cookie":["a=1","b=2"]}}', '{"deep":{"Set-Cookie":"***"}}'],
    [String.raw`{"password":"with \" quote","b":2}`, '{"password":"***","b":2}'],
    [
      JSON.stringify({ accessToken: 'x', jwtSecret: 'y', refreshes: 2 }),
      '{"accessToken":"***","jwtSecret":"***","refreshes":2}',
    ],
  ])('removes the secret from %s', (text, expected) => {
    expect(redact(text)).toBe(expected);
  });

  it.each([
    'http://127.0.0.1:4000/graphql',
    'mongodb://127.0.0.1:27017/?directConnection=true',
    '{"tokens":3,"msg":"Token refused","reason":"expired"}',
    'a@b: c',
  ])('does not change %s', (text) => {
    expect(redact(text)).toBe(text);
  });
});
