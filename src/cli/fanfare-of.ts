import type { CommandContext, CommandParts, CommandServer } from '../app/command-shapes.ts';
import type { FanfareOptions } from '../app/fanfare-shapes.ts';
import type { Config } from '../config/config.ts';
import type { Closer } from '../lib/closer.ts';
import { startTelemetry } from './telemetry.ts';

/** Opens a command's server the way a host would, with the command's environment and types. */
export async function fanfareOf(
  { env, hostConfig = {}, composed }: CommandContext,
  { auth: { jwtSecret } }: Config,
  options: FanfareOptions,
): Promise<CommandServer> {
  // It may come from the data folder.
  const settings = jwtSecret === undefined ? {} : { JWT_SECRET: jwtSecret };
  const { createServer } = await composed();
  return createServer(hostConfig, { ...options, environment: env, settings });
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
