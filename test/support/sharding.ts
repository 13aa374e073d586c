import type { Document } from 'mongodb';
import type { RecordedCommand } from './commands.ts';

/**
 * Where a command would go on a sharded collection. `targeted`: to the shards of the keys it names. `scattered`: to all of
 * them. `refused`: MongoDB takes it only from version 7.1 on, or not at all.
 */
export type Reach = 'targeted' | 'scattered' | 'refused';

type Key = Readonly<Record<string, unknown>>;

/** The worst of what the command asks for. */
export function reachOf({ name, command }: RecordedCommand, key: Key): Reach {
  switch (name) {
    case 'insert':
    case 'getMore':
      return 'targeted';
    case 'aggregate': {
      const [first] = command['pipeline'] as readonly Document[];
      return isTargeted(first?.['$match'], key) ? 'targeted' : 'scattered';
    }
    case 'update':
      return worst(
        (command['updates'] as readonly Document[]).map((write) =>
          reachOfWrite(write, key, write['multi'] === true),
        ),
      );
    case 'delete':
      return worst(
        (command['deletes'] as readonly Document[]).map((write) =>
          reachOfWrite(write, key, write['limit'] === 0),
        ),
      );
    case 'findAndModify':
      return isTargeted(command['query'], key) ? 'targeted' : 'refused';
    case 'find':
      return isTargeted(command['filter'], key) ? 'targeted' : 'scattered';
    default:
      return isTargeted(command['query'], key) ? 'targeted' : 'scattered';
  }
}

function reachOfWrite({ q, upsert }: Document, key: Key, isMany: boolean): Reach {
  if (isTargeted(q, key)) return 'targeted';
  if (upsert === true) return 'refused';
  return isMany || isEquality((q as Document)['_id']) ? 'scattered' : 'refused';
}

function worst(reaches: readonly Reach[]): Reach {
  if (reaches.includes('refused')) return 'refused';
  return reaches.includes('scattered') ? 'scattered' : 'targeted';
}

/** Whether a filter names values of every field of the shard key. */
function isTargeted(filter: unknown, key: Key): boolean {
  if (typeof filter !== 'object' || filter === null) return false;
  const all = Object.entries(filter as Document);
  const parts = all.flatMap(([name, value]) => (name === '$and' ? (value as readonly unknown[]) : []));
  if (parts.some((part) => isTargeted(part, key))) return true;
  return Object.keys(key).every((field) =>
    all.some(
      ([name, value]) =>
        (name === field && isEquality(value)) ||
        // Equality of the whole names each of its parts.
        (field.startsWith(`${name}.`) && isPlain(value)),
    ),
  );
}

function isEquality(value: unknown): boolean {
  if (value === undefined) return false;
  if (typeof value !== 'object' || value === null || !isOperators(value)) return true;
  return '$eq' in value || '$in' in value;
}

function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (!isOperators(value)) return true;
  const { $in: values, $eq: one } = value as { readonly $in?: readonly unknown[]; readonly $eq?: unknown };
  return one !== undefined || values?.every(isPlain) === true;
}

function isOperators(value: object): boolean {
  return Object.keys(value).some((name) => name.startsWith('$'));
}
