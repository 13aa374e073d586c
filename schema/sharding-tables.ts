import { COLLECTIONS } from '../src/app/collections.ts';
import { reasonsInWords, SCATTERED } from '../test/support/scattered.ts';

const HEADS = [
  ['collection', 'shard key', 'finds on one shard', 'reads of all shards', 'writes to all shards'],
  ['collections', 'reason'],
] as const;

/** The tables of docs/sharding.md: where each collection is, and what goes to all shards. */
export function shardingTables(): string[][] {
  const sharded = COLLECTIONS.flatMap(({ name, shard }) => {
    if ('because' in shard) return [];
    const { reads, writes } = SCATTERED[name] ?? {};
    return [
      [
        `\`${name}\``,
        `\`${JSON.stringify(shard.key)}\``,
        shard.serves,
        reasonsInWords(reads),
        reasonsInWords(writes),
      ],
    ];
  });
  const others = new Map<string, string[]>();
  for (const { name, shard } of COLLECTIONS)
    if ('because' in shard) others.set(shard.because, [...(others.get(shard.because) ?? []), `\`${name}\``]);
  const unsharded = [...others].map(([because, names]) => [names.join(', '), because]);
  return [sharded, unsharded].map((rows, n) => {
    const head = HEADS[n] ?? [];
    return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  });
}
