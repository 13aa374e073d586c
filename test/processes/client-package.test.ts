import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { WebSocket } from 'ws';
import type { FeedItem } from '@fanfare/client';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { showFeed } from '../../docs/examples/watch-feed.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask, feedOf, publish, upsert } from '../support/feed-api.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(async () => app[Symbol.asyncDispose]());

/** The package as its build makes it, in a folder of its own. */
async function buildPackage(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'fanfare-client-'));
  const tsc = [join(PROJECT, 'node_modules/typescript/bin/tsc'), '-p', 'packages/client/tsconfig.build.json'];
  const out = ['--outDir', join(path, 'dist'), '--incremental', 'false', '--tsBuildInfoFile', 'null'];
  await run(process.execPath, [...tsc, ...out], { cwd: PROJECT });
  await copyFile(join(PROJECT, 'packages/client/package.json'), join(path, 'package.json'));
  await symlink(join(PROJECT, 'node_modules'), join(path, 'node_modules'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

/** Watches, and exits on its own once nothing is left to wait for. */
const SCRIPT = `
import { createFeedClient } from '@fanfare/client';
import { WebSocket } from 'ws';
const [url, token, transport, moment] = process.argv.slice(2);
const abort = new AbortController();
const client = createFeedClient({ url, token, transport, webSocket: WebSocket, backoff: { firstMs: 600_000, maxMs: 600_000 } });
await client.watch({
  signal: abort.signal,
  onResync: () => { if (moment === 'live') abort.abort(); },
  onEvent() {},
  onState(state) {
    if (state === moment) setImmediate(() => abort.abort());
  },
});
console.log('over');
`;

test('the built package resolves by its name, its types match, and an ended watch keeps no process alive', async () => {
  await using built = await buildPackage();
  await writeFile(join(built.path, 'script.mjs'), SCRIPT);
  await copyFile(join(PROJECT, 'docs/examples/watch-feed.ts'), join(built.path, 'watch-feed.ts'));
  const compilerOptions = {
    ...{ module: 'esnext', moduleResolution: 'bundler', target: 'es2023', lib: ['es2023', 'dom'] },
    ...{ types: [], strict: true, noEmit: true },
  };
  await writeFile(
    join(built.path, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['watch-feed.ts'] }),
  );
  await run(process.execPath, [join(PROJECT, 'node_modules/typescript/bin/tsc'), '-p', built.path]);
  const token = await app.token('reader');
  for (const transport of ['websocket', 'sse'])
    for (const [moment, url] of [
      ['live', `${app.url}/graphql`],
      ['connecting', `${app.url}/graphql`],
      ['waiting', 'http://127.0.0.1:1'],
    ] as const) {
      const { stdout } = await run(process.execPath, ['script.mjs', url, token, transport, moment], {
        cwd: built.path,
        timeout: PATIENCE_MS,
      });
      expect([transport, moment, stdout]).toEqual([transport, moment, 'over\n']);
    }
});

test('the example in docs/client.md is the file in docs/examples', async () => {
  const [page, example] = await Promise.all(
    ['docs/client.md', 'docs/examples/watch-feed.ts'].map((file) => readFile(join(PROJECT, file), 'utf8')),
  );
  expect(page).toContain('```ts\n' + (example ?? 'nothing') + '```\n');
});

test('the example shows the live feed', async () => {
  vi.stubGlobal('WebSocket', WebSocket);
  await upsert(app, { pairs: [{ followerId: 'ann', refId: 'actor' }] });
  const first = await publish(app);
  await app.idle();
  const drawn: string[][] = [];
  const shows = (ids: readonly string[]): Promise<unknown> =>
    vi.waitUntil(() => JSON.stringify(drawn.at(-1)) === JSON.stringify(ids), { timeout: PATIENCE_MS });
  const draw = (items: readonly FeedItem[]): void => void drawn.push(items.map(({ action }) => action.id));
  const abort = new AbortController();
  const showing = showFeed(`${app.url}/graphql`, () => app.token('ann'), draw, abort.signal);
  await shows([first]);
  const second = await publish(app);
  await shows([second, first]);
  await ask(
    app,
    'mutation ($id: ID!) { hideFeedItem(actionId: $id) { actionId } }',
    { id: first },
    { sub: 'ann' },
  );
  await shows([second]);
  expect((await feedOf(app, 'ann')).map(({ action }) => action.id)).toEqual([second]);
  abort.abort();
  await showing;
  vi.unstubAllGlobals();
});
