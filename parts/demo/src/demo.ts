import type { CommandContext, Terminal } from '../../../src/app/command-shapes.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { parseDuration } from '../../../src/config/units.ts';
import { clock } from '../../../src/lib/clock.ts';
import { visible } from '../../../src/lib/redact.ts';
import type { PublishActionInput } from '../../../src/core/shapes.ts';
import type { ApiClient } from '../../../src/cli/api-client.ts';
import { CommandError, DEMO_TENANT, configOf, findServer } from '../../../src/cli/context.ts';
import { connectToServer } from '../../../src/cli/api-client.ts';
import { ownToken } from '../../../src/cli/token.ts';
import { DEMO_CONFIG, playAround, scheduledAction } from './around.ts';
import { FOLLOWS, MEMBERS, READER, REFS } from './people.ts';
import { liveAction, story } from './story.ts';
import { type TraceAction, followsOfRepositories, paced, readTrace } from './trace.ts';
import { endOnSignals } from '../../../src/cli/shutdown.ts';
import { openRuntime } from '../../../src/cli/runtime.ts';
import { withSecret } from '../../../src/cli/kept-secret.ts';

export interface DemoOptions {
  readonly url?: string;
  readonly token?: string;
  readonly interval: string;
  readonly count?: number;
  /** Plays the sample trace within this time, instead of single actions. */
  readonly trace?: string | true;
}

const TRACE_IN = '1m';
const DAY_MS = 86_400_000;
/** Members, refs and follows per request. */
const CHUNK = 500;

const PREPARE = /* GraphQL */ `
  mutation DemoPrepare($members: [MemberInput!]!, $refs: [RefInput!]!, $follows: [FollowInput!]!) {
    upsertMembers(members: $members)
    upsertRefs(refs: $refs)
    followMany(pairs: $follows)
  }
`;
const MEMBER = 'query DemoMember($id: String!) { member(memberId: $id) { name } }';
const REF = 'query DemoRef($id: String!) { ref(refId: $id) { label } }';
const PUBLISH = /* GraphQL */ `
  mutation DemoPublish($input: PublishActionInput!) {
    publishAction(input: $input) {
      isReplay
      action {
        id
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
    readonly action: { readonly id: string; readonly descriptor: { readonly summary: string } };
  };
}

/**
 * Plays a story, says how to watch, and continues with live actions. Starts a server unless one is given or runs on the same
 * DATA_DIR.
 */
export async function demo(context: CommandContext, options: DemoOptions): Promise<void> {
  const intervalMs = durationOf('--interval', options.interval);
  const traceMs =
    options.trace === undefined
      ? null
      : durationOf('--trace', options.trace === true ? TRACE_IN : options.trace);
  const config = configOf(context, { needsKey: false });
  const tenant = config.auth.tenantClaim === undefined ? undefined : DEMO_TENANT;
  const run = clock.now().toISOString();
  const played = { live: 0 };
  const play = async (url: string, given = options.token): Promise<void> => {
    const client = await connectToServer(context, { url, token: given, tenant });
    const hire = await playStory(client, context.terminal, run);
    const token = given ?? (await ownToken(context, READER, { tenant }));
    await playAround(client, await connectToServer(context, { url, token, tenant }), hire);
    for (const line of watchingHints(url, token)) context.terminal.out(line);
    const live =
      traceMs === null
        ? endless(run, intervalMs)
        : paced(await prepareTrace(client, context.terminal), traceMs, run);
    for (const [waitMs, input, at] of live) {
      if (played.live >= (options.count ?? Infinity)) break;
      await delay(waitMs);
      const { publishAction } = await client.run<Published>(PUBLISH, { input });
      played.live += 1;
      context.terminal.out(visible(`→ ${at}${publishAction.action.descriptor.summary}`));
    }
  };
  const farewell = () =>
    `Stopped after ${String(played.live)} live action${played.live === 1 ? '' : 's'}. All of it stays in the feed of "${READER}".`;
  const running = options.url === undefined ? await findServer(config.dataDir) : null;
  const url = options.url ?? running?.url;
  if (url !== undefined) {
    endOnSignals(context.terminal, { farewell, exitCode: 0 });
    await play(url, options.token ?? running?.token ?? undefined);
    return;
  }
  const { config: signing } = await withSecret(configOf(context));
  await using runtime = await openRuntime(
    { hostConfig: DEMO_CONFIG, ...context },
    {
      config: signing,
      parts: { api: true, worker: true },
      voice: 'command',
      farewell,
      exitCode: 0,
    },
  );
  await play(runtime.app.url ?? '');
}

type Played = readonly [waitMs: number, input: PublishActionInput, at: string];

function* endless(run: string, intervalMs: number): Generator<Played> {
  for (let n = 0; ; n += 1) yield [intervalMs, liveAction(run, n), ''];
}

/** Creates the members, refs and follows of the trace. @returns its actions, oldest first */
async function prepareTrace(client: ApiClient, terminal: Terminal): Promise<readonly TraceAction[]> {
  const trace = await readTrace();
  const { members, refs, actions } = trace;
  const follows = [...trace.follows, ...followsOfRepositories(trace)];
  const none = { members: [], refs: [], follows: [] };
  for (const chunk of chunksOf(members)) await client.run(PREPARE, { ...none, members: chunk });
  for (const chunk of chunksOf(refs)) await client.run(PREPARE, { ...none, refs: chunk });
  for (const chunk of chunksOf(follows)) await client.run(PREPARE, { ...none, follows: chunk });
  terminal.out(
    `The sample trace: ${String(actions.length)} actions of ${String(members.length)} people, ${String(follows.length)} follows.`,
  );
  return actions;
}

function* chunksOf<Entry>(entries: readonly Entry[]): Generator<readonly Entry[]> {
  for (let at = 0; at < entries.length; at += CHUNK) yield entries.slice(at, at + CHUNK);
}

/** Without a pause it would publish as fast as it can, which is also what a timer does with more than 24 days. */
function durationOf(option: string, given: string): number {
  const ms = parseDuration(given);
  if (ms === null || ms < 1 || ms > DAY_MS)
    throw new CommandError(
      `${option} got "${given}", expected a duration from 1ms to 1d, such as 500ms or 2s`,
    );
  return ms;
}

/** Describes its people and things, and nobody and nothing of the host that has the same id. */
async function prepareStory(client: ApiClient): Promise<void> {
  interface Described {
    readonly member?: { readonly name: string } | null;
    readonly ref?: { readonly label: string } | null;
  }
  const isOwn = async (query: string, id: string, called: string): Promise<boolean> => {
    const { member, ref } = await client.run<Described>(query, { id });
    return (member?.name ?? ref?.label ?? called) === called;
  };
  const [ownMembers, ownRefs] = await Promise.all([
    Promise.all(MEMBERS.map(({ memberId, name }) => isOwn(MEMBER, memberId, name))),
    Promise.all(REFS.map(({ id, label }) => isOwn(REF, id, label))),
  ]);
  const members = MEMBERS.filter((_, at) => ownMembers[at]);
  const own = new Set([READER, ...members.map(({ memberId }) => memberId)]);
  await client.run(PREPARE, {
    members,
    refs: REFS.filter((_, at) => ownRefs[at]),
    follows: FOLLOWS.filter(({ followerId }) => own.has(followerId)),
  });
}

/** @returns the id of its last action */
async function playStory(client: ApiClient, terminal: Terminal, run: string): Promise<string> {
  await prepareStory(client);
  let last = '';
  for (const input of story()) {
    const { publishAction } = await client.run<Published>(PUBLISH, { input });
    terminal.out(
      `  ${publishAction.action.descriptor.summary}${publishAction.isReplay ? ' (from last time)' : ''}`,
    );
    last = publishAction.action.id;
  }
  const input = scheduledAction(run, clock.now());
  const { publishAction } = await client.run<Published>(PUBLISH, { input });
  terminal.out(`  In a minute: ${publishAction.action.descriptor.summary}`);
  return last;
}

const WATCH =
  'subscription { feedEvents { __typename ... on FeedItemAdded { item { action { descriptor { summary } } } } } }';
const READ = '{ feed(first: 10) { edges { node { relevancy reasons action { descriptor { summary } } } } } }';

function watchingHints(url: string, token: string): string[] {
  const endpoint = `${url.replace(/\/(?:graphql)?$/, '')}/graphql`;
  const call = (query: string, accept: string) =>
    [
      `  curl -sN ${endpoint} -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' \\`,
      `    -H 'accept: ${accept}' -d '${JSON.stringify({ query })}'`,
    ].join('\n');
  return [
    '',
    `The demo, with two readers and somebody who publishes: ${endpoint.replace(/graphql$/, 'console/demo')}`,
    '',
    `All of this is in the feed of "${READER}". To watch it in another terminal:`,
    '',
    `  TOKEN=${token}`,
    call(WATCH, 'text/event-stream'),
    '',
    'To read it:',
    '',
    call(READ, 'application/json'),
    '',
    'The console has more of it: a list of the reader, a thread under the hire, what is scheduled (Publish) and, of a server that this command has started, views.',
    `In a browser: ${endpoint.replace(/graphql$/, 'console')}, or ${endpoint}, with {"authorization": "Bearer …"} under Headers.`,
    '',
    'Live actions (stop with Ctrl-C):',
  ];
}
