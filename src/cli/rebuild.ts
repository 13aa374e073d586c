import { setTimeout as delay } from 'node:timers/promises';
import type { Identity } from '../domain/viewer.ts';
import { configOf } from './config-of.ts';
import type { CommandContext } from './context.ts';
import { openProgress } from './progress.ts';
import { openRuntime } from './runtime.ts';

export interface RebuildOptions {
  readonly member?: string;
}

/** Who may type this command has the databases. */
const OPERATOR: Identity = { userId: 'rebuild', roles: new Set(['admin']), expiresAt: null };
const POLL_MS = 100;

/** Makes stored feeds anew from the actions, those of all readers or one, and waits until they are done. */
export async function rebuild(context: CommandContext, { member }: RebuildOptions): Promise<void> {
  const config = configOf(context, { needsKey: false });
  await using runtime = await openRuntime(context, {
    config,
    parts: { api: false, worker: true },
    voice: 'command',
  });
  const { app } = runtime;
  if (member === undefined) for await (const _count of app.services.rebuildFeeds(OPERATOR));
  else await app.services.rebuildFeed(OPERATOR, member);
  const all = Math.max(1, await app.openRebuilds());
  using progress = openProgress(context.terminal, 'Rebuilding feeds');
  for (;;) {
    const open = await app.openRebuilds();
    const done = Math.max(0, all - open);
    progress.update(done / all, `${String(done)} of ${String(all)}`);
    if (open === 0) break;
    await delay(POLL_MS);
  }
  context.terminal.note(`Feeds are stored as FEED_MODEL=${config.feeds.model} has it.`);
}
