import type { CommandContext, Terminal } from '../../../src/app/command-shapes.ts';
import { isDeepStrictEqual } from 'node:util';
import type { Database } from '../../../src/storage/database/mongo.ts';
import type { IndexDefinition } from '../../../src/storage/indexes/indexes.ts';
import {
  PAUSES_MIGRATIONS,
  SHARD_INDEX,
  SHARD_RULES,
  sharding,
  supports,
  type PlannedShard,
  type ShardRefusal,
} from './rules.ts';
import { reasonFor } from '../../../src/cli/report-failure.ts';
import { configOf, CommandError } from '../../../src/cli/context.ts';

export interface ShardOptions {
  /** Shards collections that are not sharded yet, on the router at MONGODB_URI. */
  readonly run?: boolean;
  /** Prints the shard key of each collection there. */
  readonly status?: boolean;
}

/**
 * Prints one mongosh command per line and collection to stdout, and to stderr which collections stay unsharded, and why. Or
 * runs these commands, or prints the current state.
 * @returns the exit code: 1 if a collection is not sharded as planned.
 */
export async function shard(context: CommandContext, { run, status }: ShardOptions): Promise<number> {
  const { mongodb } = configOf(context, { needsKey: false });
  const { allIndexes, collections, connectDatabase } = await context.composed();
  for (const { name, shard: plan } of collections)
    if ('because' in plan) context.terminal.note(`${name}: not sharded: ${plan.because}`);
  const planned = collections.flatMap(({ name: collection, shard: plan }): PlannedShard[] =>
    'key' in plan ? [{ collection, ...plan }] : [],
  );
  if (run !== true && status !== true) {
    const indexes = allIndexes();
    for (const plan of planned)
      for (const line of linesOf(mongodb.db, plan, indexes)) context.terminal.out(line);
    context.terminal.out(`db.adminCommand(${JSON.stringify({ setClusterParameter: PAUSES_MIGRATIONS })})`);
    return 0;
  }
  if (mongodb.uri === undefined)
    throw new CommandError('MONGODB_URI is missing: set it to mongos, the router of a sharded database');
  await using database = await connectDatabase({ uri: mongodb.uri, db: mongodb.db });
  if (!database.isSharded)
    throw new CommandError('The server at MONGODB_URI is not mongos, the router of a sharded database');
  if (run === true)
    await sharding(database.db)
      .pauseMigrations()
      .catch((error: unknown) => {
        context.terminal.note(
          `pauseMigrationsDuringMultiUpdates could not be set (${reasonFor(error)}): move chunks only while no worker runs`,
        );
      });
  let isSharded = true;
  for (const plan of planned)
    isSharded = (await look(context.terminal, database, plan, run === true)) && isSharded;
  return isSharded ? 0 : 1;
}

function linesOf(db: string, { collection, key }: PlannedShard, all: readonly IndexDefinition[]): string[] {
  const indexes = all.filter((index) => index.collection === collection);
  const shown = JSON.stringify(key);
  const [quotedDb, quoted] = [JSON.stringify(db), JSON.stringify(collection)];
  return [
    ...(supports(indexes, key)
      ? []
      : [
          `db.getSiblingDB(${quotedDb}).getCollection(${quoted}).createIndex(${shown}, {"name":"${SHARD_INDEX}"})`,
        ]),
    `sh.shardCollection(${JSON.stringify(`${db}.${collection}`)}, ${shown})`,
  ];
}

/** Prints how the collection is sharded, after sharding it if requested. `false`: not as planned. */
async function look(
  terminal: Terminal,
  { db }: Database,
  plan: PlannedShard,
  isRun: boolean,
): Promise<boolean> {
  const { collection, key } = plan;
  const router = sharding(db);
  const state = await router.stateOf(plan);
  const by = (sharded: object): string => `${collection}: sharded by ${JSON.stringify(sharded)}`;
  if (state.key !== null) {
    const isPlanned = isDeepStrictEqual({ ...state.key }, { ...key });
    terminal.out(isPlanned ? by(state.key) : `${by(state.key)}, not by ${JSON.stringify(key)}`);
    return isPlanned;
  }
  if (isRun && state.refusals.length === 0) {
    await router.shard(plan, state);
    terminal.out(by(key));
    return true;
  }
  terminal.out(`${collection}: not sharded${state.refusals.map(because).join('')}`);
  return false;
}

function because({ rule, index }: ShardRefusal): string {
  const { says, source } = SHARD_RULES[rule];
  return `: the index ${String(index)} is unique. ${says} ${source}`;
}
