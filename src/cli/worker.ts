import { configOf } from './config-of.ts';
import type { CommandContext } from './context.ts';
import { openRuntime } from './runtime.ts';

/** Runs a fan-out worker without an API until a signal comes. */
export async function worker(context: CommandContext): Promise<void> {
  await openRuntime(context, {
    config: configOf(context, { needsKey: false }),
    parts: { api: false, worker: true, waitsForRedis: true },
    voice: 'server',
    stop: new AbortController(),
    hasHeartbeat: true,
  });
}
