const FOUND = Symbol.for('fanfare.shard-faults');

/** What would not do on a sharded database, of the process: the files of a project share it, each with modules of its own. */
export function shardFaults(): Set<string> {
  const scope = globalThis as unknown as Record<symbol, Set<string> | undefined>;
  return (scope[FOUND] ??= new Set());
}

/** All of them, which are forgotten then. */
export function takeShardFaults(): readonly string[] {
  const found = [...shardFaults()];
  shardFaults().clear();
  return found;
}
