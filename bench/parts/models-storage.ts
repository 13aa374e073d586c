import type { Environment } from '../harness/environment.ts';
import { keysBeginning, type ModelWorld } from '../world/models.ts';

/** What the feeds of one model take. */
export interface Stored {
  /** Entries that are stored: readers who hold an action, over all actions. */
  readonly entries: number;
  /** Tables and indexes of the database, with whatever space they have not given back, and keys of Redis. */
  readonly bytes: number;
  /** The documents alone, as BSON. */
  readonly documentBytes: number;
  readonly redisBytes: number;
}

/** Collections that every model has alike. Whatever else is there holds feeds. */
const SHARED = new Set([
  'actions',
  'erasures',
  'feedEpochs',
  'feeds',
  'follows',
  'interactions',
  'members',
  'moderationLog',
  'rankings',
  'refs',
  'scores',
]);
const AT_ONCE = 200;
/** More readers than there are. */
const MANY = 100_000;

export async function measureStored(environment: Environment, world: ModelWorld): Promise<Stored> {
  const entries = await countEntries(world);
  if (entries === 0) return { entries, bytes: 0, documentBytes: 0, redisBytes: 0 };
  const { db } = world.world;
  let bytes = 0;
  let documentBytes = 0;
  for (const { name } of await db.listCollections({}, { nameOnly: true }).toArray()) {
    if (SHARED.has(name)) continue;
    const [sum] = await db
      .collection(name)
      .aggregate<{ bytes: number }>([{ $group: { _id: null, bytes: { $sum: { $bsonSize: '$$ROOT' } } } }])
      .toArray();
    // An empty collection has its indexes nevertheless: that is not what this model takes.
    if (sum === undefined) continue;
    const { totalSize }: { totalSize?: unknown } = await db.command({ collStats: name });
    if (typeof totalSize !== 'number') throw new Error(`collStats of ${name} tells no total size`);
    bytes += totalSize;
    documentBytes += sum.bytes;
  }
  const redisBytes = await redisBytesOf(environment, world.redisKeys);
  return { entries, bytes: bytes + redisBytes, documentBytes, redisBytes };
}

async function countEntries({ world, store }: ModelWorld): Promise<number> {
  const actions = await world.actions
    .find({}, { projection: { _id: 1 } })
    .map(({ _id }) => _id.toHexString())
    .toArray();
  let entries = 0;
  for (const actionId of actions) entries += (await store.holders(actionId, { limit: MANY })).length;
  return entries;
}

async function redisBytesOf(environment: Environment, prefix: string): Promise<number> {
  const keys = await keysBeginning(environment, prefix);
  let bytes = 0;
  for (let from = 0; from < keys.length; from += AT_ONCE) {
    const some = keys.slice(from, from + AT_ONCE);
    // All elements, not a sample of them.
    const sizes = await Promise.all(some.map((key) => environment.redis.memory('USAGE', key, 'SAMPLES', 0)));
    bytes += sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
  }
  return bytes;
}
