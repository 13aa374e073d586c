import { configOf } from './config-of.ts';
import type { CommandContext } from './context.ts';
import { isMember, runMember } from './processes/member.ts';
import { runGroup } from './processes/run-group.ts';
import { openRuntime } from './runtime.ts';

export interface WorkerCommandOptions {
  readonly health?: boolean;
  readonly processes: number;
  readonly telemetry?: boolean;
}

/** Runs a fan-out worker without an API until a signal arrives. */
export async function worker(
  context: CommandContext,
  { processes, telemetry: traces = false }: WorkerCommandOptions,
): Promise<void> {
  const config = configOf(context, { needsKey: false });
  const parts = { api: false, worker: true, waitsForRedis: true, traces };
  const stop = new AbortController();
  if (isMember(context)) await runMember(context, config, parts);
  else if (processes > 1)
    await runGroup(context, { config, parts, count: processes, stop, hasHeartbeat: true });
  else await openRuntime(context, { config, parts, voice: 'server', stop, hasHeartbeat: true });
}
