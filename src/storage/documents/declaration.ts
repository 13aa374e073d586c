import type { Collection, Document, Filter, IndexDescription, ObjectId } from 'mongodb';
import type { ErasureStepName, ErasureSubject } from '../../domain/erasure.ts';

/** The documents of each collection, by its name: the files with their types add them. */
export interface Documents {
  readonly writeProbes: { _id: string; at: Date };
}

/** Collections that exist with every feed model; models add their own. */
export type Collections = { readonly [Name in keyof Documents]: Collection<Documents[Name]> };

/** Why a collection has no answer to a question. */
export interface Not {
  readonly because: string;
}

type Leaf = string | number | boolean | Date | ObjectId | null | undefined;
type Below<T> = T extends Leaf
  ? ''
  : T extends readonly (infer Item)[]
    ? `[]${Below<Item>}`
    : T extends object
      ? { [Field in keyof T & string]-?: `.${Field}${Below<T[Field]>}` }[keyof T & string]
      : '';
type WithoutDot<Path> = Path extends `.${infer Rest}` ? Rest : never;

/** Where a value is in a document: names of fields, and `[]` for each element of a list, such as `refs[].id`. */
export type PathOf<D> = string extends keyof D ? string : WithoutDot<Below<D>>;

/**
 * All ids of the host application in a document, by what they are: members; refs, which may be members; teams and
 * departments; keys of audiences; stamps of names.
 */
export type Ids<Path extends string = string> = Readonly<
  Partial<Record<'member' | 'ref' | 'group' | 'key' | 'stamp', readonly Path[]>>
>;

/** An index of a collection. */
export interface Index extends IndexDescription {
  readonly name: string;
  /** The query it exists for. */
  readonly serves: string;
}

export type ShardKey = Readonly<Record<string, 1 | 'hashed'>>;

/** Chosen so that the hot path's reads and writes contain the key. */
export interface Sharded {
  readonly key: ShardKey;
  /** The operations that reach a single shard by it. */
  readonly serves: string;
}

/** A section of a member's export. */
export interface Exported<D extends object> {
  readonly section: string;
  /** Where the member's id is. */
  readonly of: PathOf<D>;
  /** Only these documents. */
  readonly where?: Document;
  readonly sort?: Readonly<Record<string, 1 | -1>>;
  readonly entry: (document: D, memberId: string) => object;
}

/** Sections of an export that combine more than one collection or kind of document. */
export type ExportSection =
  | 'member'
  | 'ref'
  | 'reader'
  | 'followers'
  | 'mutedBy'
  | 'actions'
  | 'feed'
  | 'events';

/** A reader with marks that an archive has brought back. */
export interface MarkedReader {
  readonly userId: string;
  readonly hasUnreadMarks?: true;
  readonly hasSnoozes?: true;
}

/** Deletes the documents that match. @param recordsEvents hosts get events, which may not be lost. */
type Purge = (collections: Collections, filter: Filter<Document>, recordsEvents: boolean) => Promise<void>;

/** A document that belongs to an action: it goes into an archive and comes back with it. */
export interface OfAction<D extends object> {
  /** Where the id of the action is. */
  readonly id: PathOf<D>;
  /** How it is handled when the action is deleted. A function does it itself. */
  readonly purge: 'delete' | Purge | Not;
  /** The document as an erasure would have left it; `null`: deleted. */
  readonly erased: (document: D, subject: ErasureSubject) => D | null;
  /** The reader whom the document marks as a reader with marks. */
  readonly marks?: (document: D) => MarkedReader;
}

/** All that there is to know about a collection. Every list of collections is computed from this. */
export interface Declaration<D extends object = Document> {
  readonly name: string;
  readonly holds: string;
  readonly ids: Ids<PathOf<D>>;
  readonly indexes: readonly Index[];
  /** Indexes that depend on the types of actions that this process knows. */
  readonly indexesForTypes?: () => readonly Index[];
  readonly shard: Sharded | Not;
  /** Stored feeds are rebuilt from the actions: they are neither exported nor adopted. */
  readonly isRebuilt?: true;
  /** Runs before documents are removed with their tenant. `reads`: the fields it needs. */
  readonly beforeRemoval?: {
    readonly reads: readonly string[];
    readonly run: (collections: Collections, documents: readonly D[]) => Promise<void>;
  };
  /** `delete`: the documents of the member, whose id is at the first path of `ids`. Otherwise the steps that change them. */
  readonly erase: 'delete' | readonly ErasureStepName[] | Not;
  readonly export: readonly (ExportSection | Exported<D>)[] | Not;
  readonly action: OfAction<D> | Not;
}

/** The declaration of a collection that exists with every feed model. */
export type Declared<Name extends keyof Documents> = Declaration<Documents[Name]> & { readonly name: Name };

export const NAMES_NOBODY: Not = { because: 'names nobody' };
export const NOT_OF_ACTIONS: Not = { because: 'does not belong to an action' };

/** A collection of the installation, which is small and found by `_id`. */
export function ofInstallation<Name extends keyof Documents>(name: Name, holds: string): Declared<Name> {
  return {
    ...{ name, holds, ids: {}, indexes: [], shard: { because: 'a few documents' } },
    ...{ erase: NAMES_NOBODY, export: NAMES_NOBODY, action: NOT_OF_ACTIONS },
  };
}

/** A collection with stored feeds, which a feed model brings. @param options.reader field with the reader's id */
export function feedCollection(
  name: string,
  options: {
    readonly holds: string;
    readonly indexes: readonly Index[];
    readonly reader: string;
    readonly serves: string;
  },
): Declaration {
  const { holds, indexes, reader, serves } = options;
  return {
    ...{ name, holds, ids: { member: [reader] }, indexes },
    shard: { key: { [reader]: 1 }, serves },
    isRebuilt: true,
    erase: ['FEED'],
    export: ['feed'],
    action: { because: 'taken out and delivered again' },
  };
}

export function index(
  name: string,
  key: Readonly<Record<string, 1 | -1>>,
  serves: string,
  options: Pick<Index, 'unique' | 'sparse' | 'partialFilterExpression'> = {},
): Index {
  return { name, key, serves, ...options };
}

/** The same within one tenant, whose name comes first. It does not exist without tenants. */
export const indexWithin: typeof index = (name, key, serves, options) =>
  index(`tenant_${name}`, { tenant: 1, ...key }, `${serves}, of a tenant`, options);

/**
 * Where documents have the name of their tenant, or an id that begins with it, at one of these paths. Empty: they are found
 * by the actions and removed with them, or belong to the installation.
 */
export function tenantIn({ ids, indexes }: Declaration): readonly string[] {
  if (indexes.some(({ key }) => 'tenant' in key)) return ['tenant'];
  const { member = [], ref = [] } = ids;
  return [...member, ...ref].includes('_id') ? ['_id'] : member;
}

/** The index that finds documents with events for hosts. */
export const UNSENT = index('unsent', { unsentAt: 1 }, 'events for hosts: what has not been moved yet', {
  partialFilterExpression: { unsentAt: { $exists: true } },
});

/** The index that finds names to carry to their copies. */
export const RENAME = index('rename', { 'rename.due': 1 }, 'rename: the next name to carry to its copies', {
  partialFilterExpression: { 'rename.due': { $exists: true } },
});
