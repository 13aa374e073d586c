import type { CommandContext } from '../app/command-shapes.ts';
import { configOf } from './context.ts';
import { openRuntime, type ServerParts } from './runtime.ts';

export interface WorkerCommandOptions {
  readonly health?: boolean;
  /** Default: one. */
  readonly processes?: number;
  readonly telemetry?: boolean;
}

/** Runs a fan-out worker without an API until a signal arrives. */
export async function worker(
  context: CommandContext,
  server: ServerParts,
  { processes = 1, telemetry: traces = false }: WorkerCommandOptions,
): Promise<void> {
  const config = configOf(context, { needsKey: false });
  const parts = { api: false, worker: true, waitsForRedis: true, traces };
  const stop = new AbortController();
  const several = await server.processes?.();
  if (several?.isMember(context) === true) await several.runMember(context, config, parts);
  else if (several !== undefined && processes > 1)
    await several.runGroup(context, { config, parts, count: processes, stop, hasHeartbeat: true });
  else await openRuntime(context, { config, parts, voice: 'server', stop, hasHeartbeat: true });
}
