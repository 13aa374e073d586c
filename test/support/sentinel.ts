import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Certificate } from './certificate.ts';
import { freePort, startValkey, until, type Valkey } from './valkey.ts';

/** A primary, its replica, and a sentinel that replaces the one by the other within a second or two. */
export interface Redundant extends AsyncDisposable {
  /** Of the sentinel. */
  readonly url: string;
  readonly primary: Valkey;
  readonly replica: Valkey;
}

/** @param certificate where all of them are to speak TLS */
export async function withSentinel(name: string, certificate?: Certificate): Promise<Redundant> {
  const { args: tlsArgs = [], client = {} } = certificate ?? {};
  const isTls = certificate !== undefined;
  const primary = await startValkey({ isTls, client, args: () => tlsArgs });
  const replica = await startValkey({
    ...{ isTls, client },
    args: () => [...tlsArgs, '--replicaof', '127.0.0.1', String(primary.port)],
  });
  await until('the replica follows', async () =>
    String(await replica.call('INFO', 'replication')).includes('master_link_status:up'),
  );
  const sentinel = await startValkey({
    ...{ isTls, client },
    program: async (folder, port) => {
      const config = join(folder, 'sentinel.conf');
      const lines = [
        ...(isTls ? ['port 0', `tls-port ${String(port)}`] : [`port ${String(port)}`]),
        ...directives(tlsArgs),
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
    url: `${isTls ? 'rediss' : 'redis'}://127.0.0.1:${String(sentinel.port)},127.0.0.1:${String(await freePort())}`,
    primary,
    replica,
    async [Symbol.asyncDispose]() {
      await sentinel[Symbol.asyncDispose]();
      await replica[Symbol.asyncDispose]();
      await primary[Symbol.asyncDispose]();
    },
  };
}

/** The lines of a file that say what a command line does: `--name value` by `name value`. */
function directives(args: readonly string[]): string[] {
  return args.flatMap((arg, index) =>
    arg.startsWith('--') ? [`${arg.slice(2)} ${args[index + 1] ?? ''}`] : [],
  );
}
