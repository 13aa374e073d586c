import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CancelledNotificationSchema,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';
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

/** Serves one client until it closes stdin, and answers what it has asked by then. Nothing but the protocol is written to stdout. */
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
  const transport = new AnsweringTransport();
  await server.connect(transport);
  await ended;
  await transport.answered();
  await server.close();
}

/** Knows which requests have no answer yet. */
class AnsweringTransport extends StdioServerTransport {
  readonly #unanswered = new Set<RequestId>();
  #onAnswered: () => void = () => undefined;

  override onmessage = (message: JSONRPCMessage): void => {
    if (!('method' in message)) return;
    if ('id' in message) this.#unanswered.add(message.id);
    // It gets no answer.
    const cancelled = CancelledNotificationSchema.safeParse(message).data?.params.requestId;
    if (cancelled !== undefined) this.#settle(cancelled);
  };

  override async send(message: JSONRPCMessage): Promise<void> {
    await super.send(message);
    if (!('method' in message) && message.id !== undefined) this.#settle(message.id);
  }

  /** Resolves once every request has been answered. */
  answered(): Promise<void> {
    return new Promise((resolve) => {
      this.#onAnswered = resolve;
      if (this.#unanswered.size === 0) resolve();
    });
  }

  #settle(id: RequestId): void {
    this.#unanswered.delete(id);
    if (this.#unanswered.size === 0) this.#onAnswered();
  }
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
