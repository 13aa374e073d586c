import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let authorization: string;
beforeAll(async () => {
  app = await startTestApp({ worker: false, env: { CORS_ORIGINS: 'https://app.example' } });
  authorization = `Bearer ${await app.token('reader')}`;
});
afterAll(async () => app[Symbol.asyncDispose]());

const audits = serverAudits({
  url: () => `${app.url}/graphql`,
  fetchFn: (url: string, init: RequestInit = {}) =>
    fetch(url, { ...init, headers: { ...(init.headers as Record<string, string>), authorization } }),
});

describe('every GraphQL over HTTP audit', () => {
  test('has more than 50 audits', () => {
    expect(audits.length).toBeGreaterThan(50);
  });

  for (const audit of audits)
    test(`${audit.id}: ${audit.name}`, async () => {
      const result = await audit.fn();
      expect(result.status === 'ok' || result.status === 'notice' ? 'ok' : result).toBe('ok');
    });
});

describe('requests other than GraphQL', () => {
  async function post(body: string, headers: Record<string, string> = {}) {
    const response = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization, ...headers },
      body,
    });
    const { errors } = (await response.json()) as {
      errors: { message: string; extensions: { code: string } }[];
    };
    return { status: response.status, code: errors[0]?.extensions.code };
  }

  test.each([
    ['no JSON', '{'],
    ['an empty object', '{}'],
    ['null', 'null'],
    ['a string', '"{ __typename }"'],
    ['an empty body', ''],
    ['a batch', '[{"query":"{ __typename }"},{"query":"{ __typename }"}]'],
    ['an empty batch', '[]'],
    ['a query that is a number', '{"query":1}'],
    ['variables that are a list', '{"query":"{ __typename }","variables":[]}'],
    ['an unknown property', '{"query":"{ __typename }","doc_id":"1"}'],
    ['an operation name that is not there', '{"query":"query A { __typename }","operationName":"B"}'],
    ['two operations and no name', '{"query":"query A { __typename } query B { __typename }"}'],
  ])('answers %s with BAD_USER_INPUT', async (_what, body) => {
    expect(await post(body)).toEqual({ status: 400, code: 'BAD_USER_INPUT' });
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/graphql',
  ])(
    'answers a body of type %s with 415, so that a page of another origin needs a preflight',
    async (type) => {
      expect(await post('query={__typename}', { 'content-type': type })).toEqual({
        status: 415,
        code: 'BAD_USER_INPUT',
      });
    },
  );

  test('answers variables in the URL that are not JSON with BAD_USER_INPUT', async () => {
    const response = await fetch(`${app.url}/graphql?query={__typename}&variables={`, {
      headers: { authorization },
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] });
  });

  test('rejects a mutation by GET', async () => {
    const query = encodeURIComponent('mutation { follow(refId: "a") { refId } }');
    const response = await fetch(`${app.url}/graphql?query=${query}`, { headers: { authorization } });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
  });

  test('answers requests as curl sends them', async () => {
    const response = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: '*/*', authorization },
      body: '{"query":"{ viewer { memberId } }"}',
    });
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.json()).toEqual({ data: { viewer: { memberId: 'reader' } } });
  });

  test('lets pages of a listed origin send requests, with a token but without cookies', async () => {
    const preflight = await fetch(`${app.url}/graphql`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('https://app.example');
    expect(preflight.headers.get('access-control-allow-headers')).toBe('authorization,content-type');
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull();
  });

  test('answers unknown paths with 404 as JSON', async () => {
    const response = await fetch(`${app.url}/nowhere`);
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ error: 'Not found' });
  });
});
