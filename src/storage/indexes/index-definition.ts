import type { IndexDescription } from 'mongodb';

export interface IndexDefinition extends IndexDescription {
  readonly name: string;
  readonly collection: string;
  /** The query it exists for. */
  readonly serves: string;
}

export function index(
  collection: string,
  name: string,
  key: Record<string, 1 | -1>,
  serves: string,
  options: Pick<IndexDescription, 'unique' | 'sparse' | 'partialFilterExpression'> = {},
): IndexDefinition {
  return { collection, name, key, serves, ...options };
}
