import { createFanfare } from '../app/fanfare.ts';
import type { Fanfare, FanfareOptions } from '../app/fanfare-shapes.ts';
import type { Config } from '../config/config.ts';
import type { Closer } from '../lib/closer.ts';
import type { CommandContext } from './context.ts';
import { startTelemetry } from './telemetry.ts';

/** What of a server a command runs. */
export type CommandParts = Required<Pick<FanfareOptions, 'api' | 'worker'>> &
  Pick<FanfareOptions, 'traces' | 'waitsForRedis'>;

export type CommandServer = AsyncDisposable & Pick<Fanfare<never>, 'start' | 'url'>;

/** The server of a command is one as any host opens it, by the environment and the types of the command. */
export function fanfareOf(
  { env, hostConfig = {} }: CommandContext,
  { auth: { jwtSecret } }: Config,
  options: FanfareOptions,
): CommandServer {
  // It may be one that is kept in the data folder.
  const settings = jwtSecret === undefined ? {} : { JWT_SECRET: jwtSecret };
  return createFanfare(hostConfig, { ...options, environment: env, settings });
}

/** Starts it, with telemetry around it where it is asked for: its last spans are sent when everything else is closed. */
export async function startTraced(
  fanfare: CommandServer,
  { traces }: CommandParts,
  closer: Closer,
): Promise<void> {
  if (traces === true) closer.own(await startTelemetry());
  closer.own(fanfare);
  await fanfare.start();
}
