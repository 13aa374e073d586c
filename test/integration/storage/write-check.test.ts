import { expect, inject, onTestFinished, test } from 'vitest';
import { connectDatabase } from '../../../src/app/collections.ts';
import type { Database } from '../../../src/storage/database/mongo.ts';
import { testDatabase } from '../../support/engine.ts';
import { startTcpProxy, through, type TcpProxy } from '../realtime/tcp-proxy.ts';

async function databaseThroughProxy(): Promise<{ database: Database; proxy: TcpProxy }> {
  const uri = inject('mongodbUri');
  const spare = await testDatabase();
  onTestFinished(() => spare[Symbol.asyncDispose]());
  const proxy = await startTcpProxy(uri);
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  const database = await connectDatabase({ uri: through(uri, proxy), db: spare.name, maxPoolSize: 2 });
  onTestFinished(() => database.close());
  return { database, proxy };
}

test.for<[string, (database: Database) => Promise<unknown>]>([
  ['write check', (database) => database.writes.check()],
  ['ping', (database) => database.ping()],
])('a %s on a dead connection is given up, and the next succeeds when the network works', async ([, ask]) => {
  const { database, proxy } = await databaseThroughProxy();
  await ask(database);
  proxy.freeze();
  await expect
    .poll(() =>
      ask(database).then(
        () => 'answers',
        () => 'fails',
      ),
    )
    .toBe('fails');
  proxy.heal();
  await expect
    .poll(() =>
      ask(database).then(
        () => 'answers',
        () => 'fails',
      ),
    )
    .toBe('answers');
});
