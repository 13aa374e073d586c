import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { ApiError, type ApiClient } from '../../../src/cli/api-client.ts';
import { CommandError } from '../../../src/cli/context.ts';
import { FanfareError } from '../../../src/domain/errors.ts';
import { packageVersion } from '../../../src/lib/package-info.ts';
import { asData, MAX_ANSWER_BYTES } from './data.ts';
import { TOOLS } from './tools.ts';

export interface McpParts {
  readonly api: Pick<ApiClient, 'run'>;
  /** Whether there are tools that change something. */
  readonly mayWrite: boolean;
  /** What is asked of the process rather than of the API. */
  readonly inspect: Readonly<Record<'doctor' | 'settings', () => Promise<unknown>>>;
}

const INSPECTIONS = {
  doctor: 'Checks whether the server and its databases work.',
  settings: 'The settings of a server: names, defaults and meanings.',
} as const;

/** Tools for one client. */
export async function createMcpServer({ api, mayWrite, inspect }: McpParts): Promise<McpServer> {
  const server = new McpServer({ name: 'fanfare', version: await packageVersion() });
  for (const [name, { description, input, query, writes = false }] of Object.entries(TOOLS)) {
    if (writes && !mayWrite) continue;
    server.registerTool(
      name,
      { description, inputSchema: input, annotations: hints(!writes) },
      (given: Readonly<Record<string, unknown>>) => answer(() => api.run(query, variablesOf(name, given))),
    );
  }
  for (const name of ['doctor', 'settings'] as const)
    server.registerTool(name, { description: INSPECTIONS[name], annotations: hints(true) }, () =>
      answer(() => inspect[name]()),
    );
  return server;
}

function hints(isReading: boolean) {
  return { readOnlyHint: isReading, destructiveHint: !isReading, idempotentHint: true, openWorldHint: false };
}

function variablesOf(
  tool: string,
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return tool === 'feed_of' ? { ...given, ofOther: given['memberId'] !== undefined } : given;
}

async function answer(find: () => Promise<unknown>): Promise<CallToolResult> {
  try {
    const text = asData(await find());
    const bytes = Buffer.byteLength(text);
    if (bytes <= MAX_ANSWER_BYTES) return { content: [{ type: 'text', text }] };
    const error = `The answer has ${String(bytes)} bytes, at most ${String(MAX_ANSWER_BYTES)} are given: ask for fewer`;
    return { isError: true, content: [{ type: 'text', text: asData({ code: 'BAD_USER_INPUT', error }) }] };
  } catch (error) {
    const isMeant = error instanceof ApiError || error instanceof FanfareError;
    if (!isMeant && !(error instanceof CommandError)) throw error;
    // It may quote a text of a member.
    const said = { code: isMeant ? error.code : 'UNAVAILABLE', error: error.message };
    return { isError: true, content: [{ type: 'text', text: asData(said) }] };
  }
}
