import type { Config } from '../config/config.ts';
import { startEmbeddedServices, type EmbeddedServices } from '../embedded/services.ts';
import { redact } from '../lib/redact.ts';
import type { CommandContext } from './context.ts';
import type { EmbeddedSteps } from './embedded-steps.ts';

/** The databases of the configuration: the given ones, else local ones. */
export function startDatabases(
  { env }: Pick<CommandContext, 'env'>,
  config: Config,
  steps: Pick<EmbeddedSteps, 'onEvent'>,
): Promise<EmbeddedServices> {
  return startEmbeddedServices({
    ...(config.mongodb.uri === undefined ? {} : { mongodbUri: config.mongodb.uri }),
    ...(config.redis.url === undefined ? {} : { redisUrl: config.redis.url }),
    ...(env['PATH'] === undefined ? {} : { path: env['PATH'] }),
    dataDir: config.dataDir,
    cacheDir: config.cacheDir,
    durability: 'durable',
    onEvent: steps.onEvent,
  });
}

/** For people. */
export function describeDatabases(databases: EmbeddedServices, { dataDir }: Pick<Config, 'dataDir'>): string {
  const { mongodbKind, mongodbUri, redisKind, redisUrl } = databases;
  const place = (kind: string, address: string) => (kind === 'given' ? redact(address) : `local ${kind}`);
  const isLocal = mongodbKind !== 'given' || redisKind !== 'given';
  return `${place(mongodbKind, mongodbUri)}, ${place(redisKind, redisUrl)}${isLocal ? `, data in ${dataDir}` : ''}`;
}
