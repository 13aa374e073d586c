import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { CommandContext } from '../../../src/app/command-shapes.ts';
import { connectToServer } from '../../../src/cli/api-client.ts';
import { CommandError, configOf, findServer } from '../../../src/cli/context.ts';
import { endOnSignals } from '../../../src/cli/shutdown.ts';
import type { ActingOptions } from '../../../src/cli/token.ts';
import { createMcpServer } from './server.ts';

export interface McpOptions extends ActingOptions {
  readonly url?: string;
  readonly token?: string;
  readonly write?: boolean;
}

const MAX_OUTPUT_BYTES = 1_048_576;
const INSPECTED_WITHIN_MS = 120_000;

/** Serves one client until it closes stdin. Nothing but the protocol is written to stdout. */
export async function serveStdio(context: CommandContext, options: McpOptions): Promise<void> {
  const running =
    options.url === undefined ? await findServer(configOf(context, { needsKey: false }).dataDir) : null;
  const url = options.url ?? running?.url;
  if (url === undefined) throw new CommandError('No server runs on DATA_DIR: give its address with --url');
  endOnSignals(context.terminal, { farewell: () => 'Ended.', exitCode: 0 });
  const api = await connectToServer(context, {
    ...{ url, tenant: options.tenant },
    token: options.token ?? running?.token ?? undefined,
  });
  const server = await createMcpServer({
    ...{ api, mayWrite: options.write === true },
    inspect: {
      doctor: () => ownCommand(context, ['doctor']),
      settings: () => ownCommand(context, ['doctor', '--settings']),
    },
  });
  const ended = once(process.stdin, 'end');
  await server.connect(new StdioServerTransport());
  await ended;
  await server.close();
}

/** What the same command says in a process of its own: some of it starts databases, and ends with them. */
function ownCommand({ env }: CommandContext, args: readonly string[]): Promise<unknown> {
  const [, main = ''] = process.argv;
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [...process.execArgv, main, ...args],
      { env: { ...env }, maxBuffer: MAX_OUTPUT_BYTES, timeout: INSPECTED_WITHIN_MS },
      (error, stdout, stderr) =>
        resolve({ isWell: error === null, lines: stdout.split('\n'), notes: stderr.split('\n') }),
    );
  });
}
