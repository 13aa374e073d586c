import { setTimeout as delay } from 'node:timers/promises';
import { parseDuration } from '../config/units.ts';
import type { PublishActionInput } from '../services/shapes.ts';
import type { ApiClient } from './api-client.ts';
import { configOf } from './config-of.ts';
import { connectToServer, ownToken } from './connection.ts';
import { CommandError, type CommandContext, type Terminal } from './context.ts';
import { FOLLOWS, MEMBERS, READER, REFS } from './demo/people.ts';
import { liveAction, story } from './demo/story.ts';
import { paced, traceOfDay } from './demo/trace.ts';
import { watchingHints } from './demo/watching-hints.ts';
import { endOnSignals } from './interruption.ts';
import { DEMO_TENANT, openRuntime } from './runtime.ts';
import { findServer } from './running-server.ts';
import { withSecret } from './kept-secret.ts';

export interface DemoOptions {
  readonly url?: string;
  readonly token?: string;
  readonly interval: string;
  readonly count?: number;
  /** Plays a day of activity, in so long, instead of single actions. */
  readonly trace?: string | true;
}

const DAY_IN = '1m';

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

/** Plays a story, says how to watch, and goes on with live actions. Starts a server unless one is given
 * or runs on the same DATA_DIR. */
export async function demo(context: CommandContext, options: DemoOptions): Promise<void> {
  const intervalMs = durationOf('--interval', options.interval);
  const dayMs = options.trace === undefined ? null : durationOf('--trace', traceIn(options.trace));
  const config = configOf(context, { needsKey: false });
  const tenant = config.auth.tenantClaim === undefined ? undefined : DEMO_TENANT;
  const run = new Date().toISOString();
  const played = { live: 0 };
  const play = async (url: string, given = options.token): Promise<void> => {
    const client = await connectToServer(context, { url, token: given, tenant });
    await tellStory(client, context.terminal);
    const token = given ?? (await ownToken(context, READER, tenant));
    for (const line of watchingHints(url, token)) context.terminal.out(line);
    for (const [waitMs, input, at] of dayMs === null ? endless(run, intervalMs) : day(run, dayMs)) {
      if (played.live >= (options.count ?? Infinity)) break;
      await delay(waitMs);
      const { publishAction } = await client.run<Published>(PUBLISH, { input });
      played.live += 1;
      context.terminal.out(`→ ${at}${publishAction.action.descriptor.summary}`);
    }
  };
  const farewell = () =>
    `Ended after ${String(played.live)} live action${played.live === 1 ? '' : 's'}. All of it stays in the feed of "${READER}".`;
  const running = options.url === undefined ? await findServer(config.dataDir) : null;
  const url = options.url ?? running?.url;
  if (url !== undefined) {
    endOnSignals(context.terminal, { farewell, exitCode: 0 });
    await play(url, options.token ?? running?.token ?? undefined);
    return;
  }
  const { config: signing } = await withSecret(configOf(context));
  await using runtime = await openRuntime(context, {
    config: signing,
    parts: { api: true, worker: true },
    voice: 'command',
    farewell,
    exitCode: 0,
  });
  await play(runtime.app.url ?? '');
}

type Played = readonly [waitMs: number, input: PublishActionInput, at: string];

function* endless(run: string, intervalMs: number): Generator<Played> {
  for (let n = 0; ; n += 1) yield [intervalMs, liveAction(run, n), ''];
}

function* day(run: string, dayMs: number): Generator<Played> {
  for (const [waitMs, { minute, input }] of paced(traceOfDay(run), dayMs)) {
    const [hour, rest] = [Math.floor(minute / 60), Math.floor(minute % 60)];
    yield [waitMs, input, `${String(hour).padStart(2, '0')}:${String(rest).padStart(2, '0')} `];
  }
}

function traceIn(trace: string | true): string {
  return trace === true ? DAY_IN : trace;
}

function durationOf(option: string, given: string): number {
  const ms = parseDuration(given);
  if (ms === null)
    throw new CommandError(`${option} got "${given}", expected a duration such as 500ms or 2s`);
  return ms;
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
