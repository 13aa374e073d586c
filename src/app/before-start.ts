import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Config } from '../config/config.ts';
import { doubtsOf } from '../config/doubts.ts';
import type { Environment } from '../config/env.ts';
import { logDoubtfulSetting } from '../telemetry/events/process.ts';
import type { Logger } from '../telemetry/logger.ts';

/** What can be known before databases are started, which may take a while. Rejects when a port is taken. */
export async function checkBeforeStart(
  env: Environment,
  config: Config,
  { api, metrics }: { readonly api: boolean; readonly metrics?: boolean },
  logger: Logger,
): Promise<void> {
  for (const { name, message } of doubtsOf(env, config, api))
    logDoubtfulSetting(logger, { setting: name, because: `it ${message}` });
  const { host, port } = config.http;
  const { port: metricsPort } = config.metrics;
  if (api) await tryPort(host, port);
  if (metrics && metricsPort !== undefined)
    await tryPort(host, metricsPort).catch((cause: unknown) => {
      throw new Error(`METRICS_PORT=${String(metricsPort)} cannot be used`, { cause });
    });
}

/** Rejects as listening would. */
async function tryPort(host: string, port: number): Promise<void> {
  const server = createServer().listen({ host, port, exclusive: true });
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}
