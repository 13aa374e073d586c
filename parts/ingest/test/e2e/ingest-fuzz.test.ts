import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { ERROR_CODES } from '../../../../src/domain/errors.ts';
import { startTestApp } from '../../../../test/support/app.ts';
import { actionLine, ingest, numbered } from '../../../../test/support/ingest.ts';
import { repeats, SEED } from '../../../../test/support/seed.ts';
import { seededRandom } from '../../../../test/support/seeded-random.ts';

const LINES = 40;
const ODD: readonly unknown[] = [
  ...[
    null,
    true,
    -1,
    1e308,
    '',
    ' ',
    '\u0000',
    '\ud800',
    'x'.repeat(10_000),
    [],
    {},
    [[]],
    '2024-13-01T00:00:00Z',
  ],
  ...[
    { __proto__: null, constructor: 1 },
    ['a', null],
    [{ id: 1 }],
    { then: 1 },
    'RESTRICTED',
    '\u001f',
    '$where',
  ],
];
const FIELDS = [
  'idempotencyKey',
  'actorId',
  'conducted',
  'expiresAt',
  'scope',
  'recipients',
  'mentions',
  'refs',
  'descriptor',
  '__proto__',
  'more',
];
const DEEP = `{"idempotencyKey":"deep","descriptor":{"custom":{"verb":"v","objectType":"o","objectId":"i","data":${'['.repeat(5_000)}${']'.repeat(5_000)}}}}`;

test('whatever is sent, each line has an answer with a code of the API, and none is an internal error', async () => {
  await using app = await startTestApp({ worker: false, env: { INGEST: 'on' } });
  const token = await app.token('importer', ['service']);
  const random = seededRandom(SEED);

  const oddLine = (key: string): string => {
    const value = JSON.stringify(random.pick(ODD));
    const field = random.pick(FIELDS);
    const valid = actionLine(key);
    switch (random.below(5)) {
      case 0:
        return `{${JSON.stringify(field)}:${value},${valid.slice(1)}`;
      case 1:
        return `${valid.slice(0, -1)},${JSON.stringify(field)}:${value}}`;
      case 2:
        return valid.slice(0, random.below(valid.length));
      case 3:
        return valid.replace(/"(?:visited|site)"/, value);
      default:
        return random.pick([value, DEEP, `{"descriptor":{"__proto__":{}}}`, `\u{feff}${valid}`]);
    }
  };

  const codes = new Set<string>();
  for (let n = 0; n < repeats(25); n++) {
    const keys = numbered(LINES, `${String(n)}.`);
    let body = Buffer.from(keys.map(oddLine).join('\n'));
    // Bytes that are no text.
    if (random.below(2) === 0) body[random.below(body.length)] = random.below(256);
    if (random.below(4) === 0) body = gzipSync(body);
    if (random.below(8) === 0) body = body.subarray(0, random.below(body.length));
    const { status, lines } = await ingest(app.url, body, { token });
    expect([200, 400]).toContain(status);
    const numbers = lines.flatMap(({ line = [] }) => line);
    expect(numbers).toEqual([...numbers].sort((one, other) => one - other));
    for (const { id, code } of lines) if (id === undefined) codes.add(code ?? 'none');
  }
  expect(ERROR_CODES).toEqual(expect.arrayContaining([...codes]));
  expect(codes).toContain('BAD_USER_INPUT');
  expect(codes).not.toContain('INTERNAL_SERVER_ERROR');
  expect(app.log.filter((line) => line.includes('"level":"error"'))).toEqual([]);
});
