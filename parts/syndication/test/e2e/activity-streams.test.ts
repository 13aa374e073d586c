import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  ACCEPT,
  type ActivityWorld,
  actionPath,
  openActivityWorld,
  OUTBOX,
  PUBLIC_URL,
} from '../../../../test/support/activity-world.ts';
import { startTestApp, type TestApp } from '../../../../test/support/app.ts';
import { commandsOf } from '../../../../test/support/commands.ts';
import { runCli } from '../../../../test/support/run-cli.ts';

let world: ActivityWorld;
let app: TestApp;
let get: ActivityWorld['get'];
let posted: string;
let hidden: string;
beforeAll(async () => {
  world = await openActivityWorld();
  ({ app, get, posted, hidden } = world);
});
afterAll(() => world[Symbol.asyncDispose]());

test('what is not public is not there, for anybody', async () => {
  for (const token of [{}, { authorization: `Bearer ${await app.token('ann')}` }]) {
    expect(await get(actionPath(hidden), { ...ACCEPT, ...token })).toMatchObject({ status: 404 });
    expect(await get('/refs/nowhere/outbox', { ...ACCEPT, ...token })).toMatchObject({ status: 404 });
  }
  const none = (await get(actionPath(hidden))).text;
  const other = `${hidden.slice(0, -2)}${hidden.endsWith('A=') ? 'Q=' : 'A='}`;
  expect([404, 400]).toContain((await get(actionPath(other))).status);
  expect(none).not.toContain('only ');
});

test('who asks for a page of HTML, another page or another method gets an error that says what there is', async () => {
  expect((await get(OUTBOX, { accept: 'text/html,*/*;q=0.8' })).status).toBe(400);
  expect((await get(OUTBOX, { accept: '*/*' })).status).toBe(200);
  expect((await get(`${OUTBOX}?after=nothing`)).text).toContain('BAD_CURSOR');
  expect((await get(actionPath('nothing'))).status).toBe(400);
  expect((await get('/refs/post%2F1')).status).toBe(404);
  expect((await get('/refs/%ff/outbox')).status).toBe(400);
  expect((await fetch(`${app.url}${OUTBOX}`, { method: 'POST' })).status).toBe(405);
});

test('who has it gets 304, without a command; its language is the one that is asked for', async () => {
  for (const path of [actionPath(posted), OUTBOX, `${OUTBOX}?page=1`]) {
    const { headers } = await get(path);
    const etag = headers.get('etag') ?? '';
    const commands = await commandsOf(app.app.database, async () => {
      expect(await get(path, { ...ACCEPT, 'if-none-match': etag })).toMatchObject({ status: 304, text: '' });
    });
    expect(commands.filter(({ collection }) => collection === 'actions')).toEqual([]);
  }
  const german = (await get(`${actionPath(posted)}?lang=de`)).text;
  expect(german).toContain('veröffentlicht');
  expect(JSON.parse(german)).toMatchObject({
    '@context': [{}, { '@language': 'de' }].map(() => expect.anything() as unknown),
  });
});

test('an outbox is imported into another installation, and is the same activities there', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fanfare-outbox-'));
  try {
    await using other = await startTestApp({
      env: { SYNDICATION: 'on', PUBLIC_URL: 'https://other.example' },
    });
    const { orderedItems } = JSON.parse((await get(`${OUTBOX}?page=1`)).text) as {
      orderedItems: readonly { readonly id: string; readonly type: string }[];
    };
    const path = join(folder, 'outbox.ndjson');
    await writeFile(path, orderedItems.map((item) => JSON.stringify(item)).join('\n'));
    const args = ['import', '--format', 'activitystreams', '--actions', path, '--no-worker'];
    const { code, stderr } = await runCli(args, other.env);
    // What changes something else is no action; the file has one line of it.
    expect(stderr).toContain('Undo: it changes something else');
    expect(code).toBe(1);
    await other.idle();
    const ref = encodeURIComponent(`${PUBLIC_URL}/refs/post%2F1`);
    const again = await fetch(`${other.url}/refs/${ref}/outbox?page=1`, { headers: ACCEPT });
    const there = (await again.json()) as { orderedItems: readonly Record<string, unknown>[] };
    expect(there.orderedItems.map(({ type, published }) => [type, published])).toEqual(
      orderedItems
        .filter(({ type }) => type !== 'Undo')
        .map(({ type, ...item }) => [type, (item as { published?: unknown }).published]),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('off, there is no such path', async () => {
  await using without = await startTestApp({ worker: false });
  for (const path of [OUTBOX, actionPath(posted)])
    expect((await fetch(`${without.url}${path}`, { headers: ACCEPT })).status).toBe(404);
});
