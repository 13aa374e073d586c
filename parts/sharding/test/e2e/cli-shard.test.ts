import { expect, inject, test } from 'vitest';
import { allIndexes, COLLECTIONS } from '../../../../src/app/collections.ts';
import { shard } from '../../src/shard.ts';
import { ensureIndexes } from '../../../../src/storage/indexes/indexes.ts';
import { connectDatabase } from '../../../../src/app/collections.ts';
import { recordingTerminal } from '../../../../test/support/recording-terminal.ts';
import { startRouter } from '../../../../test/support/router.ts';
import { uniqueName } from '../../../../test/support/unique-name.ts';
import { commandContext } from '../../../../test/support/command-context.ts';

const PLANNED = COLLECTIONS.flatMap(({ name: collection, shard }) =>
  'key' in shard ? [{ collection, key: shard.key }] : [],
);

async function run(env: Record<string, string>, options: { run?: boolean; status?: boolean } = {}) {
  const { terminal, stdout, stderr } = recordingTerminal();
  const code = await shard(commandContext({ env, terminal }), options).catch((error: unknown) =>
    String(error),
  );
  return { code, stdout, stderr };
}

test('shard prints a command for every collection, and why the others are not sharded', async () => {
  const { code, stdout, stderr } = await run({ MONGODB_DB: 'feeds' });
  expect(code).toBe(0);
  expect(stdout.filter((line) => line.startsWith('sh.'))).toEqual(
    PLANNED.map(({ collection, key }) => `sh.shardCollection("feeds.${collection}", ${JSON.stringify(key)})`),
  );
  // Nothing else begins with a hash of the id.
  expect(stdout.filter((line) => !line.startsWith('sh.'))).toEqual([
    'db.getSiblingDB("feeds").getCollection("actions").createIndex({"_id":"hashed"}, {"name":"shard"})',
    'db.adminCommand({"setClusterParameter":{"pauseMigrationsDuringMultiUpdates":{"enabled":true}}})',
  ]);
  expect(stderr).toHaveLength(COLLECTIONS.length - PLANNED.length);
});

test('shard only runs on a router, and prints the current state', async () => {
  await using router = await startRouter(inject('mongodbUri'));
  const MONGODB_DB = uniqueName('shard');
  const env = { MONGODB_URI: router.uri, MONGODB_DB };
  expect((await run({ MONGODB_DB }, { run: true })).code).toContain('MONGODB_URI is missing');
  const alone = await run({ ...env, MONGODB_URI: inject('mongodbUri') }, { run: true });
  expect(alone.code).toContain('is not mongos');

  await using database = await connectDatabase({ uri: router.uri, db: MONGODB_DB });
  try {
    expect(database.isSharded).toBe(true);
    await ensureIndexes(database.db, allIndexes());
    const { actions } = database.collections;
    await actions.createIndexes([{ key: { other: 1 }, name: 'other', unique: true, sparse: true }]);
    const before = await run(env, { status: true });
    expect(before.code).toBe(1);
    expect(before.stdout).toHaveLength(PLANNED.length);
    expect(before.stdout.find((line) => line.startsWith('actions:'))).toMatch(
      /^actions: not sharded: the index other is unique\. .* https:/,
    );

    await actions.dropIndex('other');
    const done = PLANNED.map(({ collection, key }) => `${collection}: sharded by ${JSON.stringify(key)}`);
    router.parameters = null;
    const old = await run(env, { run: true });
    expect(old).toMatchObject({ code: 0, stdout: done });
    expect(old.stderr.at(-1)).toMatch(
      /^pauseMigrationsDuringMultiUpdates could not be set .*no such command/,
    );
    router.parameters = {};
    expect(Object.fromEntries(router.sharded)).toEqual(
      Object.fromEntries(PLANNED.map(({ collection, key }) => [`${MONGODB_DB}.${collection}`, key])),
    );
    const indexes = await actions.indexes();
    expect(indexes.filter(({ name }) => name === 'shard')).toMatchObject([{ key: { _id: 'hashed' } }]);
    // Again changes nothing.
    expect(await run(env, { run: true })).toMatchObject({ code: 0, stdout: done });
    expect(router.parameters).toEqual({ pauseMigrationsDuringMultiUpdates: { enabled: true } });
    router.sharded.set(`${MONGODB_DB}.feeds`, { activeAt: 1 });
    const other = await run(env, { status: true });
    expect(other.code).toBe(1);
    expect(other.stdout).toContain('feeds: sharded by {"activeAt":1}, not by {"_id":1}');
  } finally {
    await database.db.dropDatabase();
  }
});
