import type { CommandContext } from '../../../src/app/command-shapes.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { configOf, CommandError, operatorOf } from '../../../src/cli/context.ts';
import { connectToServer } from '../../../src/cli/api-client.ts';
import { endOnSignals } from '../../../src/cli/shutdown.ts';
import { openProgress } from '../../../src/cli/terminal.ts';
import { openRuntime } from '../../../src/cli/runtime.ts';
import { actingFor, type ActingOptions } from '../../../src/cli/token.ts';
import { rebuildFeed, rebuildFeeds } from '../../../src/features/rebuild/rebuild-feed.ts';

export interface RebuildOptions extends ActingOptions {
  readonly member?: string;
  readonly url?: string;
  readonly token?: string;
}

const OPERATOR = operatorOf('rebuild');
const POLL_MS = 100;
const REBUILD = 'mutation ($memberId: String!) { rebuildFeed(memberId: $memberId) }';

/** Rebuilds the stored feeds of all readers or of one, and waits until they are done. */
export async function rebuild(context: CommandContext, options: RebuildOptions): Promise<void> {
  const { member } = options;
  if (options.url !== undefined) {
    await rebuildThrough(context, options.url, options);
    return;
  }
  const config = configOf(context, { needsKey: false });
  const acting = member === undefined ? null : actingFor(config, options);
  let reached = 'before any feed was rebuilt';
  await using runtime = await openRuntime(context, {
    config,
    parts: { api: false, worker: true },
    voice: 'command',
    farewell: () =>
      `Interrupted ${reached}. A running server or worker continues with marked feeds; feeds that are not rebuilt are read from the actions.`,
  });
  const { app } = runtime;
  if (member === undefined || acting === null) for await (const _count of rebuildFeeds(app.core, OPERATOR));
  else await rebuildFeed(app.core, acting.as(OPERATOR), acting.stored({ memberId: member }).memberId);
  const all = Math.max(1, await app.openRebuilds());
  using progress = openProgress(context.terminal, 'Rebuilding feeds');
  for (;;) {
    const open = await app.openRebuilds();
    const done = Math.max(0, all - open);
    reached = `after ${String(done)} of ${String(all)} feeds`;
    progress.update(done / all, `${String(done)} of ${String(all)}`);
    if (open === 0) break;
    await delay(POLL_MS);
  }
  progress[Symbol.dispose]();
  context.terminal.note(`Feeds are now stored with FEED_MODEL=${config.feeds.model}.`);
}

/** Asks the API of a running server; its workers do it. */
async function rebuildThrough(context: CommandContext, url: string, options: RebuildOptions): Promise<void> {
  const { member } = options;
  if (member === undefined)
    throw new CommandError(
      '--url requires --member <id>: the API rebuilds one feed at a time. To rebuild all, run the command where the databases can be reached.',
    );
  endOnSignals(context.terminal, {
    farewell: () => 'Interrupted. If the request has reached the server, it continues.',
  });
  const client = await connectToServer(context, { ...options, url });
  await client.run(REBUILD, { memberId: member });
  context.terminal.note(
    `The feed of "${member}" is being rebuilt; until that is done its state is REBUILDING.`,
  );
}
