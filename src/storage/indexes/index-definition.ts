import type { IndexDescription } from 'mongodb';

export interface IndexDefinition extends IndexDescription {
  readonly name: string;
  readonly collection: string;
  /** The query it exists for. */
  readonly serves: string;
}

/** An index that was needed until a schema version. */
export type RetiredIndex = Pick<IndexDefinition, 'collection' | 'name'>;

export function index(
  collection: string,
  name: string,
  key: Record<string, 1 | -1>,
  serves: string,
  options: Pick<IndexDescription, 'unique' | 'sparse' | 'partialFilterExpression'> = {},
): IndexDefinition {
  return { collection, name, key, serves, ...options };
}
