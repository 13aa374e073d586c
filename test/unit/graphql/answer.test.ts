import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { GraphQLError } from 'graphql';
import { describe, expect, test } from 'vitest';
import {
  Answer,
  type WrittenResult,
  JsonText,
  SharedText,
  unlessTooLarge,
} from '../../../src/graphql/rendering/answer.ts';
import { Answers } from '../../../src/http/limits/intake.ts';
import type { Caller } from '../../../src/http/identity/auth.ts';
import { fc } from '../../support/fast-check.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const LIMITS = { maxAnswerBytes: 1_000_000, maxAnswerValues: 10_000 };

function written(value: unknown, most: number): string | GraphQLError {
  return unlessTooLarge(() => {
    const json = new JsonText(most);
    json.write(value);
    return json.take();
  });
}

describe('JSON as text', () => {
  test('equals JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(written({ value }, Infinity)).toBe(JSON.stringify({ value }));
      }),
    );
    const strange = {
      ...{ no: undefined, list: [undefined, Number.NaN, -0, 1e21], at: new Date(0), lone: '\ud800' },
      ...{ then: 1, toJSON: 'text', ['__proto__']: 2, constructor: null },
    };
    expect(written(strange, Infinity)).toBe(JSON.stringify(strange));
  });

  test('has the fields of a shared text in place of its key', () => {
    expect(written({ a: 1, x: new SharedText('"b":2,"c":3'), d: [] }, 100)).toBe(
      '{"a":1,"b":2,"c":3,"d":[]}',
    );
  });

  test('is an error from the first value that makes it too long', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat({ max: 200 }), (value, most) => {
        const whole = JSON.stringify({ value });
        const text = written({ value }, most);
        if (whole.length <= most) expect(text).toBe(whole);
        else expect(text).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } });
      }),
    );
    let read = 0;
    const values = Array.from({ length: 1_000 }, () => ({
      get text() {
        read += 1;
        return 'x'.repeat(100);
      },
    }));
    expect(written(values, 1_000)).toBeInstanceOf(GraphQLError);
    expect(read).toBeLessThan(11);
  });

  test('needs memory for its characters only, however short the values are', () => {
    const values = Array<number>(2_000_000).fill(1);
    const json = new JsonText(Infinity);
    collect();
    const before = process.memoryUsage().heapUsed;
    json.write(values);
    collect();
    const taken = process.memoryUsage().heapUsed - before;
    const text = json.take();
    expect(text === JSON.stringify(values)).toBe(true);
    // A chain of all values would take thirty times their length.
    expect(taken).toBeLessThan(3 * text.length);
  });
});

describe('an answer', () => {
  test('is too large by bytes, not by characters', async () => {
    const answer = new Answer({ ...LIMITS, maxAnswerBytes: 100 });
    expect('stringify' in (await answer.write({ data: { text: 'é'.repeat(40) } }))).toBe(true);
    expect(await answer.write({ data: { text: 'é'.repeat(50) } })).toMatchObject({
      errors: [{ message: expect.stringMatching(/larger than 100 bytes/) as unknown }],
    });
  });

  test('with too many values is only an error and computes no more of them', async () => {
    const answer = new Answer(LIMITS);
    const entries = Array.from({ length: 100 }, () => 1);
    answer.list(entries, 99);
    expect(() => answer.list(entries, 2)).toThrow(/more than 10000 values/);
    expect(() => answer.list([1], 1)).toThrow(/more than 10000 values/);
    expect(await answer.write({ data: { a: 1 } })).toEqual({
      errors: [expect.objectContaining({ message: expect.stringMatching(/10000 values/) as unknown })],
    });
  });

  test('makes many values later, in order, without unhandled rejections', async () => {
    const answer = new Answer(LIMITS);
    const few = Array.from({ length: 100 }, (_, n) => n);
    expect(answer.list(few, 10)).toBe(few);
    const failing = Promise.reject(new Error('It failed'));
    failing.catch(() => undefined);
    const many = answer.list([...few, failing], 50);
    await expect(many.at(-1)).rejects.toThrow('It failed');
    expect(await Promise.all(many.slice(0, -1))).toEqual(few);
  });

  test('with many values is written in several turns, to the same text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        const answer = new Answer(LIMITS);
        answer.list(Array.from({ length: 3_000 }), 1);
        const data = {
          value,
          list: [value, [], {}, undefined],
          part: new SharedText('"of":1'),
          no: undefined,
        };
        const shown = (await answer.write({ data })) as WrittenResult;
        const { part: _part, ...rest } = data;
        expect(shown.stringify({})).toBe(JSON.stringify({ data: { ...rest, of: 1 } }));
      }),
      { numRuns: 30 },
    );
  });

  test('reads at most two pages at a time', async () => {
    const answer = new Answer(LIMITS);
    let underWay = 0;
    let most = 0;
    const ends: (() => void)[] = [];
    const pages = Array.from({ length: 5 }, () =>
      answer.page(async () => {
        underWay += 1;
        most = Math.max(most, underWay);
        await new Promise<void>((resolve) => ends.push(resolve));
        underWay -= 1;
      }),
    );
    for (let n = 0; n < 5; n += 1) {
      await expect.poll(() => ends.length).toBeGreaterThan(0);
      ends.shift()?.();
    }
    await Promise.all(pages);
    expect(most).toBe(2);
  });
});

describe('the answers of a process', () => {
  const caller = (userId: string, ...roles: ('service' | 'user')[]): Caller => ({
    identity: { userId, roles: new Set(roles), expiresAt: null },
    address: '',
    transport: 'http',
  });
  const sized = (bytes: number) => ({ data: 'x'.repeat(bytes - 2) }) as never;
  const codeOf = (result: Awaited<ReturnType<Answer['write']>>): unknown =>
    (result as WrittenResult).errors?.[0]?.extensions['code'] ?? null;

  test('have a limit in total and per user until they are sent; small ones always pass', async () => {
    const answers = new Answers({ ...LIMITS, maxAnswerBytes: 500_000, maxAnswerBytesUnderWay: 1_000_000 });
    const open = async (who: Caller, bytes: number) => {
      const { answer, room } = answers.open(who);
      return { code: codeOf(await answer.write(sized(bytes))), room };
    };
    const first = await open(caller('ann', 'user'), 400_000);
    expect(first.code).toBeNull();
    expect((await open(caller('ann', 'user'), 400_000)).code).toBe('RATE_LIMITED');
    expect((await open(caller('ann', 'user'), 60_000)).code).toBeNull();
    expect((await open(caller('importer', 'service'), 500_000)).code).toBeNull();
    expect((await open(caller('bob', 'user'), 400_000)).code).toBe('UNAVAILABLE');
    first.room[Symbol.dispose]();
    expect((await open(caller('bob', 'user'), 400_000)).code).toBeNull();
    expect(answers.bytes).toBeLessThanOrEqual(1_000_000);
  });
});
