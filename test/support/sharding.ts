import type { Document } from 'mongodb';
import { COLLECTIONS } from '../../src/app/collections.ts';
import type { ShardKey } from '../../src/storage/documents/declaration.ts';
import type { ShardRuleName } from '../../parts/sharding/src/rules.ts';
import type { RecordedCommand } from './commands.ts';

/** Where a command goes on a sharded database: to the shards of the keys it names, to all of them, or nowhere. */
export type Reach =
  | { readonly kind: 'targeted' | 'scattered' }
  | { readonly kind: 'forbidden'; readonly rule: ShardRuleName };

const TARGETED: Reach = { kind: 'targeted' };
const SCATTERED: Reach = { kind: 'scattered' };

/** @throws where nobody has decided on the collection. */
export function reachOf(command: RecordedCommand): Reach {
  const key = keyOf(command.collection);
  return key === null ? TARGETED : reachByKey(command, key);
}

/** Null: it stays whole. */
function keyOf(collection: string): ShardKey | null {
  const plan = COLLECTIONS.find(({ name }) => name === collection)?.shard;
  if (plan === undefined) throw new Error(`${collection} has no shard key and no reason for having none`);
  return 'key' in plan ? plan.key : null;
}

/** The worst of what the command asks for. */
export function reachByKey({ name, command }: RecordedCommand, key: ShardKey): Reach {
  switch (name) {
    case 'insert':
    case 'getMore':
      return TARGETED;
    case 'aggregate':
      return reachOfPipeline(command['pipeline'] as readonly Document[], key);
    case 'update':
      return worst((command['updates'] as readonly Document[]).map((write) => reachOfUpdate(write, key)));
    case 'delete':
      return worst(
        (command['deletes'] as readonly Document[]).map(({ q, limit }) =>
          limit === 0 ? reachOfRead(q, key) : reachOfOne(q, key),
        ),
      );
    case 'findAndModify':
      if (!names(command['query'], key, isValue)) return { kind: 'forbidden', rule: 'findAndModify' };
      return changesKey(command['update'], key) ? { kind: 'forbidden', rule: 'keyValue' } : TARGETED;
    case 'find':
      return reachOfRead(command['filter'], key);
    default:
      return reachOfRead(command['query'], key);
  }
}

function reachOfUpdate({ q, u, upsert, multi }: Document, key: ShardKey): Reach {
  if (changesKey(u, key)) return { kind: 'forbidden', rule: 'keyValue' };
  if (upsert === true) return names(q, key, isValue) ? TARGETED : { kind: 'forbidden', rule: 'upsert' };
  return multi === true ? reachOfRead(q, key) : reachOfOne(q, key);
}

/** A write of one document that may not be inserted. */
function reachOfOne(filter: unknown, key: ShardKey): Reach {
  if (names(filter, key, isValue)) return TARGETED;
  return names(filter, { _id: 1 }, isValue) ? SCATTERED : { kind: 'forbidden', rule: 'oneDocument' };
}

/** What the key begins with is enough: documents that have it in common lie together. */
function reachOfRead(filter: unknown, key: ShardKey): Reach {
  const [first] = Object.entries(key);
  const beginning = first === undefined ? {} : Object.fromEntries([first]);
  return names(filter, beginning, isSomeValues) ? TARGETED : SCATTERED;
}

/** A stage that looks up another sharded collection asks its shards from within the first, whichever they are. */
function reachOfPipeline(pipeline: readonly Document[], key: ShardKey): Reach {
  const looksUp = pipeline.some((stage) => {
    const from: unknown = (stage['$lookup'] as Document | undefined)?.['from'];
    return typeof from === 'string' && keyOf(from) !== null;
  });
  const own = looksUp ? SCATTERED : reachOfRead(pipeline[0]?.['$match'], key);
  return worst([own, ...unionsOf(pipeline).map(reachOf)]);
}

/** The reads whose results a pipeline adds to its own: each goes to the shards of its own filter. */
export function unionsOf(pipeline: readonly Document[]): RecordedCommand[] {
  return pipeline.flatMap((stage) => {
    const union = stage['$unionWith'] as { coll: string; pipeline: readonly Document[] } | undefined;
    if (union === undefined) return [];
    return [{ name: 'aggregate', collection: union.coll, command: { pipeline: union.pipeline } }];
  });
}

function worst(reaches: readonly Reach[]): Reach {
  return (
    reaches.find(({ kind }) => kind === 'forbidden') ??
    reaches.find(({ kind }) => kind === 'scattered') ??
    TARGETED
  );
}

/** Whether a filter names what the shard key is, of a document that has all its fields. */
function names(filter: unknown, key: ShardKey, isNamed: (value: unknown) => boolean): boolean {
  if (typeof filter !== 'object' || filter === null) return false;
  const all = Object.entries(filter as Document);
  const parts = all.flatMap(([name, value]) => (name === '$and' ? (value as readonly unknown[]) : []));
  if (parts.some((part) => names(part, key, isNamed))) return true;
  return Object.keys(key).every((field) =>
    all.some(
      ([name, value]) =>
        (name === field && isNamed(value)) ||
        // One value of the whole names each of its parts; several of them do not.
        (field.startsWith(`${name}.`) && isValue(value)),
    ),
  );
}

function isValue(value: unknown): boolean {
  if (value === undefined || value instanceof RegExp) return false;
  return !isOperators(value) || '$eq' in value;
}

function isSomeValues(value: unknown): boolean {
  return isValue(value) || (isOperators(value) && '$in' in value);
}

function isOperators(value: unknown): value is object {
  return (
    typeof value === 'object' && value !== null && Object.keys(value).some((name) => name.startsWith('$'))
  );
}

/** Whether an update names a field of the shard key, or what it lies in. Replacements keep it as it is. */
function changesKey(update: unknown, key: ShardKey): boolean {
  const changes = (Array.isArray(update) ? update : [update]).flatMap((stage: unknown) =>
    isOperators(stage) ? Object.entries(stage) : [],
  );
  return changes.some(([operator, fields]) => {
    if (operator === '$setOnInsert' || typeof fields !== 'object' || fields === null) return false;
    return Object.keys(key).some((field) =>
      Object.keys(fields as object).some((name) => name === field || field.startsWith(`${name}.`)),
    );
  });
}
