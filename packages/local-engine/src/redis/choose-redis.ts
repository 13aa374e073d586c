import { join } from 'node:path';
import { EmbeddedError, reasonOf } from '../errors.ts';
import { findExecutable } from '../process/executables.ts';
import { servicesCanReach } from '../process/service-user.ts';
import type { TreeSource } from '../tree/tree-source.ts';

export interface RedisChoice {
  readonly kind: 'redis-server' | 'valkey-server';
  readonly binary: string;
  readonly reason: string;
}

/** A Redis or Valkey on PATH, else the Valkey of the engine's tree. Fails with NO_REDIS when neither is possible. */
export async function chooseRedis(options: {
  readonly path: string;
  readonly tree: TreeSource;
}): Promise<RedisChoice> {
  for (const kind of ['redis-server', 'valkey-server'] as const) {
    const binary = findExecutable(kind, options.path);
    if (binary !== null && servicesCanReach(binary)) return { kind, binary, reason: 'found on PATH' };
  }
  try {
    const tree = await options.tree.get();
    return {
      kind: 'valkey-server',
      binary: join(tree, 'usr/bin/valkey-server'),
      reason: 'comes with DocumentDB',
    };
  } catch (error) {
    throw new EmbeddedError(
      'NO_REDIS',
      `No Redis can be started here: there is no redis-server or valkey-server on PATH; the one for Debian: ${reasonOf(error)} ` +
        'There are three ways out:\n' +
        '  1. Set REDIS_URL to the address of a Redis or Valkey.\n' +
        '  2. Run `docker compose up`, which brings MongoDB and Redis along.\n' +
        '  3. Put a `redis-server` or `valkey-server` on PATH.',
      { cause: error },
    );
  }
}
