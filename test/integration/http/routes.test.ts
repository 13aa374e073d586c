import { afterAll, beforeAll, expect, test } from 'vitest';
import { badInput, FanfareError } from '../../../src/domain/errors.ts';
import { enter, sendError } from '../../../src/http/admission.ts';
import { requestPath, send } from '../../../src/http/exchange/respond.ts';
import type { Route } from '../../../src/http/route.ts';
import type { HttpServer } from '../../../src/http/server.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { startTestHttp } from '../../support/http.ts';

// Paths of parts: who asks is known, what they throw is said, and nothing else of the server changes.

let app: TestApp;
let server: HttpServer;

beforeAll(async () => {
  app = await startTestApp({ api: false, worker: false });
  server = await startTestHttp(app, {}, [
    route('/own', (userId) => userId ?? 'nobody'),
    route('/own/below/', (_userId, path) => {
      if (path.endsWith('/bad')) throw badInput('Not a thing', ['thing']);
      if (path.endsWith('/none')) throw new FanfareError('NOT_FOUND', 'No such thing');
      throw new Error('mongodb://user:password@host');
    }),
  ]);
});
afterAll(async () => {
  await server.close();
  await app[Symbol.asyncDispose]();
});

function route(path: string, answer: (userId: string | null, path: string) => string): Route {
  return {
    path,
    load: (http) =>
      Promise.resolve(async (req, res) => {
        try {
          const { caller, headers } = await enter(http, req);
          send(res, 200, answer(caller.identity?.userId ?? null, requestPath(req)), headers);
        } catch (error) {
          sendError(http, res, error);
        }
      }),
  };
}

async function ask(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${server.url}${path}`, { headers });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

test('a path knows who asks', async () => {
  expect(await ask('/own')).toMatchObject({ status: 200, text: 'nobody' });
  const authorization = `Bearer ${await app.token('ann')}`;
  expect(await ask('/own?x=1', { authorization })).toMatchObject({ status: 200, text: 'ann' });
});

test('a bad token is refused before the path is asked, and a ticket is no token', async () => {
  const refused = await ask('/own', { authorization: 'Bearer a.b.c' });
  expect(refused).toMatchObject({ status: 401 });
  expect(JSON.parse(refused.text)).toMatchObject({ code: 'UNAUTHENTICATED' });
  const { ticket } = await app.core.tickets.sign(app.identity('ann'));
  expect(await ask(`/own?ticket=${ticket}`)).toMatchObject({ status: 403 });
});

test('what a path throws has the status of its code, and what is internal is not said', async () => {
  const bad = await ask('/own/below/bad');
  expect(bad.status).toBe(400);
  expect(JSON.parse(bad.text)).toEqual({ error: 'Not a thing', code: 'BAD_USER_INPUT' });
  expect(await ask('/own/below/none')).toMatchObject({ status: 404 });
  const failed = await ask('/own/below/else');
  expect(failed.status).toBe(500);
  expect(failed.text).not.toContain('password');
});

test('a path without a slash at its end has nothing below it', async () => {
  expect(await ask('/own/other')).toMatchObject({ status: 404 });
  expect(await ask('/ownother')).toMatchObject({ status: 404 });
});
