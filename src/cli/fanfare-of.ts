import { createFanfare } from '../app/fanfare.ts';
import type { Fanfare, FanfareOptions } from '../app/fanfare-shapes.ts';
import type { Config } from '../config/config.ts';
import type { Closer } from '../lib/closer.ts';
import type { CommandContext } from './context.ts';
import { startTelemetry } from './telemetry.ts';

/** A person whom the console's page of the demo can act as. */
export interface DemoMember {
  readonly memberId: string;
  readonly name: string;
}

export interface CommandParts {
  readonly api: boolean;
  readonly worker: boolean;
  readonly traces?: boolean;
  readonly waitsForRedis?: boolean;
  readonly people?: readonly DemoMember[];
}

export type CommandServer = AsyncDisposable & { start: Fanfare<never>['start']; readonly url: string | null };

/** Opens a command's server the way a host would, with the command's environment and types. */
export function fanfareOf(
  { env, hostConfig = {} }: CommandContext,
  { auth: { jwtSecret } }: Config,
  options: FanfareOptions,
): CommandServer {
  // It may come from the data folder.
  const settings = jwtSecret === undefined ? {} : { JWT_SECRET: jwtSecret };
  return createFanfare(hostConfig, { ...options, environment: env, settings });
}

/** Starts it inside telemetry, if requested: the last spans are sent after everything else is closed. */
export async function startTraced(
  fanfare: CommandServer,
  { traces }: CommandParts,
  closer: Closer,
): Promise<void> {
  if (traces === true) closer.own(await startTelemetry());
  closer.own(fanfare);
  await fanfare.start();
}
