import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { LATEST_PROTOCOL_VERSION } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.ts';
import {
  callEveryTool,
  callTool,
  mcpClient,
  openMcpWorld,
  READING,
  WRITING,
} from '../../../../test/support/mcp.ts';
import { MAIN } from '../../../../test/support/run-cli.ts';

let app: TestApp;
let folder = '';
beforeAll(async () => {
  app = await startTestApp();
  folder = await mkdtemp(join(tmpdir(), 'fanfare-mcp-'));
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** `fanfare mcp` as a client starts it. */
const client = (...args: string[]) =>
  mcpClient(
    new StdioClientTransport({
      command: process.execPath,
      args: [MAIN, 'mcp', ...args],
      env: { ...app.env, DATA_DIR: folder, PATH: process.env['PATH'] ?? '' },
      stderr: 'ignore',
    }),
  );

test('a client that starts the command lists and calls every tool, those that write only with --write', async () => {
  const world = await openMcpWorld(app);
  await using reading = await client('--url', app.url);
  expect((await reading.listTools()).tools.map(({ name }) => name).sort()).toEqual(READING);
  expect(await callEveryTool(reading, world)).toEqual([]);
  expect((await callTool(reading, 'doctor')).data).toMatchObject({ isWell: true });
  await using user = await client('--url', app.url, '--token', await app.token('ann'), '--write');
  expect((await callTool(user, 'hide_action', { id: world.actionId })).data['code']).toBe('FORBIDDEN');
  await using writing = await client('--url', app.url, '--write');
  expect((await writing.listTools()).tools.map(({ name }) => name).sort()).toEqual(
    [...READING, ...WRITING].sort(),
  );
  expect(await callEveryTool(writing, world)).toEqual([]);
  expect((await app.app.database.collections.actions.findOne({ actorId: 'bob' }))?.isHidden).toBe(true);
});

test('says what is missing, and ends with its client', () => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [MAIN, 'mcp', ...args], {
      env: { ...app.env, DATA_DIR: folder, PATH: process.env['PATH'] ?? '' },
      input: '',
      encoding: 'utf8',
    });
  expect(run()).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(/--url/) as unknown });
  expect(run('--url', app.url)).toMatchObject({ status: 0, stdout: '' });
});

test('what a client has asked before it closes its end is answered', async () => {
  const asked = [
    {
      ...{ id: 1, method: 'initialize' },
      params: {
        protocolVersion: LATEST_PROTOCOL_VERSION,
        capabilities: {},
        clientInfo: { name: 'a', version: '1' },
      },
    },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: { name: 'doctor', arguments: {} } },
    { id: 3, method: 'tools/call', params: { name: 'doctor', arguments: {} } },
    { method: 'notifications/cancelled', params: { requestId: 3 } },
    { id: 4, method: 'tools/list' },
  ];
  const child = spawn(process.execPath, [MAIN, 'mcp', '--url', app.url], {
    env: { ...app.env, DATA_DIR: folder, PATH: process.env['PATH'] ?? '' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdin.end(asked.map((one) => `${JSON.stringify({ jsonrpc: '2.0', ...one })}\n`).join(''));
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  const answers = said
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: number; result: object });
  expect(answers.map(({ id }) => id).sort()).toEqual([1, 2, 4]);
  for (const { result } of answers) expect(result).toBeTypeOf('object');
  expect(code).toBe(0);
});
