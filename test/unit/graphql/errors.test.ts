import {
  buildSchema as parseSchema,
  execute,
  GraphQLError,
  GraphQLScalarType,
  parse,
  validate,
  type ExecutionResult,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { badInput, ERROR_CODES, FanfareError } from '../../../src/domain/errors.ts';
import { apiError, toApiError } from '../../../src/graphql/errors.ts';

const schema = parseSchema('type Query { fail: String, number(n: Int = 1): Int!, pick(id: ID!): ID } ');

function present(error: unknown, isUnavailable = false) {
  const reported: unknown[] = [];
  const policy = {
    report: (cause: unknown) => void reported.push(cause),
    isUnavailable: () => isUnavailable,
  };
  return { shown: toApiError(error, policy), reported, again: (shown: unknown) => toApiError(shown, policy) };
}

async function errorOf(query: string, rootValue: object, variableValues = {}): Promise<GraphQLError> {
  const result: ExecutionResult = await execute({
    schema,
    document: parse(query),
    rootValue,
    variableValues,
  });
  const [error] = result.errors ?? [];
  if (error === undefined) throw new Error('Nothing failed');
  return error;
}

describe('errors of the domain', () => {
  test.each(ERROR_CODES)('keep the code %s, and have a status as a whole response', (code) => {
    const { shown, reported } = present(new FanfareError(code, 'As it is'));
    expect(shown.message).toBe('As it is');
    expect(shown.extensions).toMatchObject({ code, http: { status: expect.any(Number) as unknown } });
    expect(reported).toEqual([]);
  });

  test('keep their issues and their path in the response', async () => {
    const fail = (): never => {
      throw badInput('Too long', ['input', 'name']);
    };
    const { shown } = present(await errorOf('{ fail }', { fail }));
    expect(shown.toJSON()).toEqual({
      message: 'Too long',
      path: ['fail'],
      locations: [{ line: 1, column: 3 }],
      extensions: { code: 'BAD_USER_INPUT', issues: [{ path: ['input', 'name'], message: 'Too long' }] },
    });
  });
});

describe('internal errors', () => {
  const secret = new Error('connect ECONNREFUSED 10.0.0.1');

  test.each<[string, () => unknown]>([
    ['thrown outside of a field', () => secret],
    [
      'thrown by a field',
      () =>
        errorOf('{ fail }', {
          fail: () => {
            throw secret;
          },
        }),
    ],
    ['that are no errors', () => 'oops'],
    ['null where there must be a value', () => errorOf('{ number }', { number: null })],
    ['values that do not fit the schema', () => errorOf('{ number }', { number: 'x' })],
  ])('are masked and reported: %s', async (_what, make) => {
    const { shown, reported, again } = present(await make());
    expect(shown.message).toBe('Internal server error');
    expect(shown.extensions).toMatchObject({
      code: 'INTERNAL_SERVER_ERROR',
      errorId: expect.any(String) as unknown,
    });
    expect(JSON.stringify(shown)).not.toContain('10.0.0.1');
    expect(again(shown)).toBe(shown);
    expect(reported).toHaveLength(1);
  });

  test('are UNAVAILABLE if a service cannot be reached', () => {
    const { shown, reported } = present(secret, true);
    expect(shown.extensions).toMatchObject({ code: 'UNAVAILABLE', http: { status: 503 } });
    expect(shown.message).not.toContain('10.0.0.1');
    expect(reported).toEqual([secret]);
  });
});

describe('requests that GraphQL rejects', () => {
  test.each<[string, () => unknown]>([
    [
      'a syntax error',
      () => {
        try {
          return parse('{');
        } catch (error) {
          return error;
        }
      },
    ],
    ['an unknown field', () => validate(schema, parse('{ nothing }'))[0]],
    ['a variable that does not fit', () => errorOf('query ($n: Int) { number(n: $n) }', {}, { n: 'x' })],
    [
      'an argument that turns out to be null',
      () => errorOf('query ($id: ID = "a") { pick(id: $id) }', {}, { id: null }),
    ],
    [
      'a refusal of the HTTP layer',
      () => new GraphQLError('No', { extensions: { http: { status: 405 }, code: 'BAD_REQUEST' } }),
    ],
  ])('are BAD_USER_INPUT: %s', async (_what, make) => {
    const { shown, reported } = present(await make());
    expect(shown.extensions['code']).toBe('BAD_USER_INPUT');
    expect(shown.message).not.toBe('Internal server error');
    expect(reported).toEqual([]);
  });

  test('are not quoted at length', async () => {
    const { shown } = present(
      await errorOf('query ($n: Int) { number(n: $n) }', {}, { n: 'x'.repeat(100_000) }),
    );
    expect(shown.message.length).toBeLessThan(600);
  });

  test('differ from errors of a scalar that cannot serialise its value', () => {
    const scalar = new GraphQLScalarType({
      name: 'S',
      serialize: () => {
        throw new GraphQLError('Cannot represent');
      },
    });
    expect(() => scalar.serialize(1)).toThrow();
    const { shown } = present(new GraphQLError('Cannot represent'));
    expect(shown.extensions['code']).toBe('INTERNAL_SERVER_ERROR');
  });
});

test('an error that is already one of the API is not changed', () => {
  const error = apiError('RATE_LIMITED', 'Slowly', { status: 429, headers: { 'Retry-After': '1' } });
  expect(present(error).shown).toBe(error);
});
