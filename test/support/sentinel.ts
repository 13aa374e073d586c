import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort, startValkey, until, type Valkey } from './valkey.ts';

/** A primary, its replica, and a sentinel that replaces the one by the other within a second or two. */
export interface Redundant extends AsyncDisposable {
  /** Of the sentinel. */
  readonly url: string;
  readonly primary: Valkey;
  readonly replica: Valkey;
}

export async function withSentinel(name: string): Promise<Redundant> {
  const primary = await startValkey();
  const replica = await startValkey({ args: () => ['--replicaof', '127.0.0.1', String(primary.port)] });
  await until('the replica follows', async () =>
    String(await replica.call('INFO', 'replication')).includes('master_link_status:up'),
  );
  const sentinel = await startValkey({
    program: async (folder, port) => {
      const config = join(folder, 'sentinel.conf');
      const lines = [
        `port ${String(port)}`,
        'bind 127.0.0.1',
        `dir ${folder}`,
        `sentinel monitor ${name} 127.0.0.1 ${String(primary.port)} 1`,
        `sentinel down-after-milliseconds ${name} 500`,
        `sentinel failover-timeout ${name} 2000`,
      ];
      await writeFile(config, lines.join('\n'));
      return [config, '--sentinel'];
    },
  });
  await until('the sentinel knows the replica', async () =>
    String(await sentinel.call('INFO', 'sentinel')).includes('slaves=1'),
  );
  return {
    url: `redis://127.0.0.1:${String(sentinel.port)},127.0.0.1:${String(await freePort())}`,
    primary,
    replica,
    async [Symbol.asyncDispose]() {
      await sentinel[Symbol.asyncDispose]();
      await replica[Symbol.asyncDispose]();
      await primary[Symbol.asyncDispose]();
    },
  };
}
