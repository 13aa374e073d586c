import { setTimeout as delay } from 'node:timers/promises';
import { parseDuration } from '../config/units.ts';
import type { ApiClient } from './api-client.ts';
import { configOf } from './config-of.ts';
import { connectToServer, ownToken } from './connection.ts';
import { CommandError, type CommandContext, type Terminal } from './context.ts';
import { FOLLOWS, liveAction, MEMBERS, READER, REFS, story } from './demo/story.ts';
import { watchingHints } from './demo/watching-hints.ts';
import { openRuntime } from './runtime.ts';
import { withSecret } from './kept-secret.ts';

export interface DemoOptions {
  readonly url?: string;
  readonly token?: string;
  readonly interval: string;
  readonly count?: number;
}

const PREPARE = /* GraphQL */ `
  mutation DemoPrepare($members: [MemberInput!]!, $refs: [RefInput!]!, $follows: [FollowInput!]!) {
    upsertMembers(members: $members)
    upsertRefs(refs: $refs)
    followMany(pairs: $follows)
  }
`;
const PUBLISH = /* GraphQL */ `
  mutation DemoPublish($input: PublishActionInput!) {
    publishAction(input: $input) {
      isReplay
      action {
        descriptor {
          summary
        }
      }
    }
  }
`;

interface Published {
  readonly publishAction: {
    readonly isReplay: boolean;
    readonly action: { readonly descriptor: { readonly summary: string } };
  };
}

/** Plays a story, says how to watch, and goes on with live actions. Starts a server of its own unless given one. */
export async function demo(context: CommandContext, options: DemoOptions): Promise<void> {
  const intervalMs = parseDuration(options.interval);
  if (intervalMs === null)
    throw new CommandError(`--interval got "${options.interval}", expected a duration such as 500ms or 2s`);
  const play = async (url: string, signal?: AbortSignal): Promise<void> => {
    const client = await connectToServer(context, { url, token: options.token });
    await tellStory(client, context.terminal);
    const token = options.token ?? (await ownToken(context, READER));
    for (const line of watchingHints(url, token)) context.terminal.out(line);
    await goOn(client, context.terminal, { intervalMs, count: options.count ?? Infinity, signal });
  };
  if (options.url !== undefined) {
    await play(options.url);
    return;
  }
  const { config } = await withSecret(configOf(context));
  const stop = new AbortController();
  await using runtime = await openRuntime(context, {
    config,
    parts: { api: true, worker: true },
    voice: 'command',
    stop,
  });
  await play(runtime.app.url ?? '', stop.signal);
}

async function tellStory(client: ApiClient, terminal: Terminal): Promise<void> {
  await client.run(PREPARE, { members: MEMBERS, refs: REFS, follows: FOLLOWS });
  for (const input of story()) {
    const { publishAction } = await client.run<Published>(PUBLISH, { input });
    terminal.out(
      `  ${publishAction.action.descriptor.summary}${publishAction.isReplay ? ' (from last time)' : ''}`,
    );
  }
}

interface LiveOptions {
  readonly intervalMs: number;
  readonly count: number;
  readonly signal: AbortSignal | undefined;
}

async function goOn(
  client: ApiClient,
  terminal: Terminal,
  { intervalMs, count, signal }: LiveOptions,
): Promise<void> {
  const run = new Date().toISOString();
  for (let n = 0; n < count; n++) {
    await delay(intervalMs, undefined, signal === undefined ? {} : { signal }).catch(ignoreAbort);
    if (signal?.aborted === true) return;
    const { publishAction } = await client.run<Published>(PUBLISH, { input: liveAction(run, n) });
    terminal.out(`→ ${publishAction.action.descriptor.summary}`);
  }
}

function ignoreAbort(error: unknown): void {
  if (!(error instanceof Error && error.name === 'AbortError')) throw error;
}
