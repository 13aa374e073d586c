import type { Document, IndexDescription } from 'mongodb';

/** The documents of each collection, by its name. A declaration adds those of its own collection. */
export interface Documents {
  readonly writeProbes: { _id: string; at: Date };
}

/** Why a collection has no answer to a question. */
export interface Not {
  readonly because: string;
}

/** An index of a collection. */
export interface Index extends IndexDescription {
  readonly name: string;
  /** The query it exists for. */
  readonly serves: string;
  /** It does not exist without tenants. */
  readonly isForTenants?: true;
}

export type ShardKey = Readonly<Record<string, 1 | 'hashed'>>;

/** Chosen so that the hot path's reads and writes contain the key. */
export interface Sharded {
  readonly key: ShardKey;
  /** The operations that reach a single shard by it. */
  readonly serves: string;
}

/** All that there is to know about a collection. Every list of collections is computed from this. */
export interface Declaration<D extends object = Document> {
  readonly name: string;
  /** What a document is. */
  readonly holds: string;
  readonly indexes: readonly Index[];
  /** Indexes that depend on the types of actions that this process knows. */
  indexesForTypes?(): readonly Index[];
  readonly shard: Sharded | Not;
  /** Not stored: carries the type of the documents. */
  readonly document?: D;
}

/** The declaration of a collection that exists with every feed model. */
export type Declared<Name extends keyof Documents> = Declaration<Documents[Name]> & { readonly name: Name };

export function index(
  name: string,
  key: Readonly<Record<string, 1 | -1>>,
  serves: string,
  options: Pick<Index, 'unique' | 'sparse' | 'partialFilterExpression' | 'isForTenants'> = {},
): Index {
  return { name, key, serves, ...options };
}

/** The index that finds documents with events for hosts. */
export const UNSENT = index('unsent', { unsentAt: 1 }, 'events for hosts: what has not been moved yet', {
  partialFilterExpression: { unsentAt: { $exists: true } },
});

/** The index that finds names to carry to their copies. */
export const RENAME = index('rename', { 'rename.due': 1 }, 'rename: the next name to carry to its copies', {
  partialFilterExpression: { 'rename.due': { $exists: true } },
});

/** A collection with a few documents about the installation, found by `_id`. */
export function ofInstallation<Name extends keyof Documents>(name: Name, holds: string): Declared<Name> {
  return { name, holds, indexes: [], shard: { because: 'a few documents' } };
}
