import { allIndexes } from '../app/indexes.ts';
import { SHARD_PLANS } from '../storage/shard-keys.ts';
import { SHARD_RULES, shardRefusals } from '../storage/shard-rules.ts';
import { configOf } from './config-of.ts';
import type { CommandContext } from './context.ts';

/**
 * Prints one command of mongosh a line to stdout, for each collection that MongoDB would shard as it is; to stderr which
 * ones it would refuse, and why.
 */
export function shard(context: CommandContext): Promise<void> {
  const { terminal } = context;
  const { db } = configOf(context, { needsKey: false }).mongodb;
  for (const plan of SHARD_PLANS) {
    const { collection, key } = plan;
    if (key === null) {
      terminal.note(`${collection}: stays whole: ${plan.because}`);
      continue;
    }
    const refusals = shardRefusals(
      allIndexes().filter((index) => index.collection === collection),
      key,
    );
    if (refusals.length === 0)
      terminal.out(`sh.shardCollection(${JSON.stringify(`${db}.${collection}`)}, ${JSON.stringify(key)})`);
    for (const { rule, index } of refusals) {
      const { says, source } = SHARD_RULES[rule];
      const what = index === null ? 'no index begins with it' : `the index ${index} is unique`;
      terminal.note(`${collection}: not by ${JSON.stringify(key)} yet: ${what}. ${says} ${source}`);
    }
  }
  return Promise.resolve();
}
