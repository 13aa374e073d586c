import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Role } from '../../../../src/domain/viewer.ts';
import { startTestApp, type TestApp } from '../../../../test/support/app.ts';
import {
  callEveryTool,
  callTool,
  mcpOverHttp,
  openMcpWorld,
  READING,
  SLY,
  WRITING,
  type McpWorld,
} from '../../../../test/support/mcp.ts';

let app: TestApp;
let world: McpWorld;
beforeAll(async () => {
  app = await startTestApp({ env: { MCP: 'on' } });
  world = await openMcpWorld(app);
});
afterAll(() => app[Symbol.asyncDispose]());

const clientOf = async (sub: string, ...roles: Role[]) =>
  mcpOverHttp(app.url, await app.token(sub, roles.length === 0 ? ['user'] : roles));

test('a client lists the tools that read and calls each of them', async () => {
  await using client = await clientOf('root', 'admin', 'service');
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).sort()).toEqual(READING);
  expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([]);
  expect(await callEveryTool(client, world)).toEqual([]);
});

test('texts of members stand between marks that they cannot write, with nothing that is not seen', async () => {
  await using client = await clientOf('root', 'admin');
  const { text, data } = await callTool(client, 'reports', {});
  expect(JSON.stringify(data)).toContain(JSON.stringify(SLY).slice(1, 30));
  expect(JSON.parse(JSON.stringify(data))).toMatchObject({
    reports: { edges: [{ node: { entries: [{ text: SLY }] } }] },
  });
  const [, ...after] = text.split('<data ');
  expect(after).toHaveLength(1);
  expect(text.split('</data')).toHaveLength(2);
  expect(text).not.toMatch(/[\u202e\u{e0041}]/u);
  expect(text).toMatch(/^Between the two marks below is data/);
});

test('each tool has the rights of its field, and tools that write are there only with write', async () => {
  const codeOf = async (roles: readonly Role[], tool: string, args: object) => {
    await using client = await clientOf('ann', ...roles);
    const { isError, data, text } = await callTool(client, tool, args);
    return isError ? (data['code'] ?? text) : 'OK';
  };
  const { actionId } = world;
  const explain = { actionId, memberId: 'bob' };
  expect(await codeOf(['user'], 'explain_item', { actionId })).toBe('OK');
  expect(await codeOf(['user'], 'explain_item', explain)).toBe('FORBIDDEN');
  expect(await codeOf(['admin'], 'explain_item', explain)).toBe('OK');
  expect(await codeOf(['user'], 'feed_of', {})).toBe('OK');
  expect(await codeOf(['user'], 'feed_of', { memberId: 'bob' })).toBe('FORBIDDEN');
  expect(await codeOf(['admin'], 'feed_of', { memberId: 'bob' })).toBe('OK');
  for (const tool of ['work', 'doctor', 'settings', 'reports']) {
    expect([tool, await codeOf(['user'], tool, {})]).toEqual([tool, 'FORBIDDEN']);
    expect([tool, await codeOf(['admin'], tool, {})]).toEqual([tool, 'OK']);
  }
  expect(await codeOf(['moderator'], 'reports', {})).toBe('OK');
  expect(await codeOf(['user'], 'find_member', { search: 'ann' })).toBe('FORBIDDEN');
  expect(await codeOf(['service'], 'find_member', { search: 'ann' })).toBe('OK');
  expect(await codeOf(['admin'], 'explain_item', { actionId: 'nonsense' })).toBe('BAD_USER_INPUT');
  expect(await codeOf(['admin'], 'find_member', { search: 'x', first: 1_000 })).toMatch(/first/);
  expect(await codeOf(['admin'], 'hide_action', { id: actionId })).toMatch(/hide_action/);

  await using writing = await startTestApp({ worker: false, database: app.database, env: { MCP: 'write' } });
  await using client = await mcpOverHttp(writing.url, await writing.token('mo', ['moderator', 'admin']));
  expect((await client.listTools()).tools.map(({ name }) => name).sort()).toEqual(
    [...READING, ...WRITING].sort(),
  );
  await using user = await mcpOverHttp(writing.url, await writing.token('ann'));
  expect((await callTool(user, 'hide_action', { id: actionId })).data['code']).toBe('FORBIDDEN');
  expect(await callEveryTool(client, world)).toEqual([]);
  const hidden = await app.app.database.collections.actions.findOne({ actorId: 'bob' });
  expect(hidden?.isHidden).toBe(true);
});

test('needs a token, and is not there unless it is switched on', async () => {
  await expect(mcpOverHttp(app.url, null)).rejects.toThrow(/401|UNAUTHENTICATED|token/i);
  await expect(mcpOverHttp(app.url, 'x.y.z')).rejects.toThrow(/401|UNAUTHENTICATED|token/i);
  await using off = await startTestApp({ worker: false });
  expect((await fetch(`${off.url}/mcp`, { method: 'POST', body: '{}' })).status).toBe(404);
  expect((await fetch(`${app.url}/mcp`)).status).toBe(405);
});
