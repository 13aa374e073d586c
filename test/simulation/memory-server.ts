import { BSON, type Document } from 'mongodb';
import {
  aggregated,
  amended,
  BYTES_MARK,
  copied,
  ID_MARK,
  inserted,
  queryOf,
  updated,
  valuesAt,
  type Write,
  writesOf,
} from '../support/mingo.ts';

/** An error as the server's answer names it. */
export class CommandError extends Error {
  readonly code: number;
  readonly more: Document;

  constructor(code: number, message: string, more: Document = {}) {
    super(message);
    this.code = code;
    this.more = more;
  }
}

export interface UniqueIndex {
  readonly collection: string;
  readonly name: string;
  readonly paths: readonly string[];
  readonly partialFilterExpression?: Document | undefined;
}

/** Called with each document that is written; `null`: it is removed. */
export type OnPut = (collection: string, document: Document | null, before: Document | null) => void;

const DUPLICATE_KEY = 11000;

const keyOf = (value: unknown): string => JSON.stringify([value]);

/** A copy, with ids and bytes as the driver knows them again. */
export function unplain(value: unknown): unknown {
  if (typeof value === 'string') {
    if (value.startsWith(ID_MARK)) return new BSON.ObjectId(value.slice(ID_MARK.length));
    if (value.startsWith(BYTES_MARK))
      return new BSON.Binary(Buffer.from(value.slice(BYTES_MARK.length), 'hex'));
    return value;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return new Date(value);
  if (Array.isArray(value)) return value.map(unplain);
  const fields: Document = {};
  for (const name of Object.keys(value)) fields[name] = unplain((value as Document)[name]);
  return fields;
}

/** Documents by id, in the order in which they were inserted. They are never changed, only replaced. */
class MemoryCollection {
  readonly documents = new Map<string, Document>();
  readonly name: string;
  readonly #unique: readonly Unique[];
  readonly #onPut: OnPut;

  constructor(name: string, unique: readonly UniqueIndex[], onPut: OnPut) {
    this.name = name;
    this.#unique = unique.map((index) => new Unique(index));
    this.#onPut = onPut;
  }

  /** Those that a filter may match, by its `_id` if it names some. */
  candidates(filter: Document): Iterable<Document> {
    const id: unknown = filter['_id'];
    if (id === undefined) return this.documents.values();
    const ids = idsIn(id);
    if (ids === null) return this.documents.values();
    const found: Document[] = [];
    for (const one of ids) {
      const document = this.documents.get(keyOf(one));
      if (document !== undefined) found.push(document);
    }
    return found;
  }

  /** @param asked makes of a filter what `mingo` is to be asked */
  matching(filter: Document, asked: (filter: Document) => Document): Document[] {
    const names = Object.keys(filter);
    const isById = names.length === 1 && names[0] === '_id' && idsIn(filter['_id']) !== null;
    if (isById || names.length === 0) return [...this.candidates(filter)];
    const left: Document[] = [];
    for (const document of this.candidates(filter)) if (mayMatch(document, filter)) left.push(document);
    if (left.length === 0) return left;
    const query = queryOf(asked(filter));
    return left.filter((document) => query.test(document));
  }

  /** @throws when another document has its id, or the key of a unique index. */
  put(document: Document, before: Document | null): void {
    const key = keyOf(document['_id']);
    if (before === null && this.documents.has(key))
      throw duplicate('_id_', { _id: document['_id'] as unknown });
    for (const index of this.#unique) index.check(key, document);
    for (const index of this.#unique) index.put(key, document);
    this.documents.set(key, document);
    this.#onPut(this.name, document, before);
  }

  remove(document: Document): void {
    const key = keyOf(document['_id']);
    for (const index of this.#unique) index.put(key, null);
    this.documents.delete(key);
    this.#onPut(this.name, null, document);
  }
}

/** Whether it is worth asking `mingo`: most of what is polled for is not there, as one simple condition tells. */
function mayMatch(document: Document, filter: Document): boolean {
  for (const path of Object.keys(filter)) {
    if (path.startsWith('$')) continue;
    const condition: unknown = filter[path];
    const isText = typeof condition === 'string';
    const isThere = (condition as { readonly $exists?: unknown } | null)?.$exists === true;
    if (!isText && !isThere) continue;
    const value = simpleAt(document, path);
    if (value === SEVERAL || (isThere && value !== undefined) || (isText && value === condition)) continue;
    return false;
  }
  return true;
}

/** There are arrays on the way. */
const SEVERAL = Symbol('several');

function simpleAt(document: Document, path: string): unknown {
  let value: unknown = document;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Document)[name];
    if (Array.isArray(value)) return SEVERAL;
  }
  return value;
}

/** Who has which key of a unique index. */
class Unique {
  readonly #index: UniqueIndex;
  readonly #isIn: ReturnType<typeof queryOf> | null;
  readonly #owners = new Map<string, string>();
  readonly #values = new Map<string, string>();

  constructor(index: UniqueIndex) {
    this.#index = index;
    const { partialFilterExpression: partial } = index;
    this.#isIn = partial === undefined ? null : queryOf(partial);
  }

  #valuesOf(document: Document): string | null {
    if (this.#isIn?.test(document) === false) return null;
    return keyOf(this.#index.paths.map((path) => valuesAt(document, path)));
  }

  /** @throws when another document has its key. */
  check(id: string, document: Document): void {
    const values = this.#valuesOf(document);
    if (values === null || (this.#owners.get(values) ?? id) === id) return;
    const { name, paths } = this.#index;
    throw duplicate(name, Object.fromEntries(paths.map((path) => [path, valuesAt(document, path)[0]])));
  }

  put(id: string, document: Document | null): void {
    const before = this.#values.get(id);
    if (before !== undefined) this.#owners.delete(before);
    const values = document === null ? null : this.#valuesOf(document);
    if (values === null) this.#values.delete(id);
    else {
      this.#values.set(id, values);
      this.#owners.set(values, id);
    }
  }
}

function duplicate(index: string, keyValue: Document): CommandError {
  return new CommandError(
    DUPLICATE_KEY,
    `E11000 duplicate key error collection index: ${index} dup key: ${JSON.stringify(keyValue)}`,
    {
      keyPattern: Object.fromEntries(Object.keys(keyValue).map((name) => [name, 1])),
      keyValue,
    },
  );
}

/** The values that a condition on an id allows; `null`: it does not say. */
function idsIn(condition: unknown): readonly unknown[] | null {
  if (typeof condition !== 'object' || condition === null || condition instanceof Date) return [condition];
  const [[name, of] = ['', null]] = Object.entries(condition) as [string, unknown][];
  if (name === '$in' && Array.isArray(of)) return [...new Set<unknown>(of)];
  if (name === '$eq') return [of];
  return name.startsWith('$') ? null : [condition];
}

type Answer = Document;

/** The database of a simulation: executes the commands that the driver sends, one after the other, by `mingo`. */
export class MemoryServer {
  readonly #collections = new Map<string, MemoryCollection>();
  readonly #unique: readonly UniqueIndex[];
  readonly #now: () => number;
  readonly #newId: () => string;
  readonly #onPut: OnPut;

  constructor(options: {
    readonly unique: readonly UniqueIndex[];
    /** The server's clock. */
    readonly now: () => number;
    /** An id of 24 hex digits. */
    readonly newId: () => string;
    readonly onPut: OnPut;
  }) {
    this.#unique = options.unique;
    this.#now = options.now;
    this.#newId = options.newId;
    this.#onPut = options.onPut;
  }

  /** How many documents of a collection match, to look at. */
  count(name: string, filter: Document): number {
    return this.#collection(name).matching(filter, this.#asked).length;
  }

  /**
   * Executes a command, and answers as `plain` values.
   * @throws CommandError
   */
  run(command: Document): Answer {
    const [name = ''] = Object.keys(command);
    switch (name) {
      case 'find':
        return cursorOf(this.#find(command));
      case 'aggregate':
        return cursorOf(this.#aggregate(String(command['aggregate']), command['pipeline'] as Document[]));
      case 'distinct':
        return { values: this.#distinct(command) };
      case 'insert':
        return this.#insert(command);
      case 'update':
      case 'delete':
        return this.#write(command);
      case 'findAndModify':
        return this.#findAndModify(command);
      case 'hello':
        return { isWritablePrimary: true, maxWireVersion: 21, localTime: new Date(this.#now()) };
      case 'ping':
      case 'endSessions':
      case 'killCursors':
        return {};
      default:
        throw new CommandError(59, `no such command: ${name}`);
    }
  }

  /** As `mingo` is to be asked. */
  readonly #asked = <T>(value: T): T => amended(value, new Date(this.#now())) as T;

  #collection(name: string): MemoryCollection {
    let found = this.#collections.get(name);
    if (found === undefined) {
      const unique = this.#unique.filter(({ collection }) => collection === name);
      found = new MemoryCollection(name, unique, this.#onPut);
      this.#collections.set(name, found);
    }
    return found;
  }

  #find(command: Document): Document[] {
    const { filter = {}, sort, skip, limit, projection } = command;
    const isProjected = projection !== undefined && Object.keys(projection as Document).length > 0;
    const hasSort = sort !== undefined && Object.keys(sort as Document).length > 0;
    return this.#aggregate(String(command['find']), [
      { $match: filter as Document },
      ...(hasSort ? [{ $sort: sort as Document }] : []),
      ...(skip === undefined || skip === 0 ? [] : [{ $skip: skip as number }]),
      ...(limit === undefined || limit === 0 ? [] : [{ $limit: Math.abs(limit as number) }]),
      ...(isProjected ? [{ $project: projection as Document }] : []),
    ]);
  }

  #aggregate(name: string, pipeline: readonly Document[]): Document[] {
    const [first, ...others] = pipeline;
    const isMatch = first !== undefined && '$match' in first;
    const collection = this.#collection(name);
    let documents = isMatch
      ? collection.matching(first['$match'] as Document, this.#asked)
      : [...collection.documents.values()];
    let own: Document[] = [];
    let isCopy = false;
    const flush = (): void => {
      // Of no documents, no stage makes any.
      if (documents.length === 0) own = [];
      if (own.length === 0) return;
      const isReading = own.every((stage) => READS_ONLY.has(Object.keys(stage)[0] ?? ''));
      if (!isReading && !isCopy) {
        documents = copied(documents);
        isCopy = true;
      }
      documents = aggregated(documents, this.#asked(own));
      own = [];
    };
    for (const stage of isMatch ? others : pipeline) {
      const { $unionWith, $lookup, $project } = stage;
      if ($project !== undefined) {
        flush();
        const before = documents;
        own.push(stage);
        flush();
        documents = documents.map((document, n) => inOrder(document, before[n] ?? {}, $project as Document));
        continue;
      }
      if ($unionWith === undefined && $lookup === undefined) {
        own.push(stage);
        continue;
      }
      flush();
      if ($unionWith !== undefined) {
        const { coll, pipeline: more = [] } = $unionWith as {
          readonly coll: string;
          readonly pipeline?: Document[];
        };
        documents = [...documents, ...this.#aggregate(coll, more)];
      } else documents = documents.map((document) => this.#joined(document, $lookup as Lookup));
    }
    flush();
    return documents;
  }

  #joined(document: Document, { from, as, localField, foreignField, pipeline = [] }: Lookup): Document {
    let match: Document = {};
    if (localField !== undefined && foreignField !== undefined) {
      const values = valuesAt(document, localField);
      match = { [foreignField]: { $in: values.length === 0 ? [null] : values } };
    }
    return { ...document, [as]: this.#aggregate(from, [{ $match: match }, ...pipeline]) };
  }

  #distinct(command: Document): unknown[] {
    const query = (command['query'] ?? {}) as Document;
    const found = this.#collection(String(command['distinct'])).matching(query, this.#asked);
    const values = new Map<string, unknown>();
    for (const document of found)
      for (const value of valuesAt(document, String(command['key']))) values.set(keyOf(value), value);
    return [...values.values()];
  }

  #insert(command: Document): Answer {
    const collection = this.#collection(String(command['insert']));
    const writeErrors: Document[] = [];
    let n = 0;
    for (const [index, document] of (command['documents'] as Document[]).entries()) {
      try {
        collection.put({ _id: this.#mark(), ...document }, null);
        n += 1;
      } catch (error) {
        writeErrors.push(writeErrorOf(index, error));
        if (command['ordered'] !== false) break;
      }
    }
    return { n, ...(writeErrors.length === 0 ? {} : { writeErrors }) };
  }

  #write(command: Document): Answer {
    const collection = this.#collection(String(Object.values(command)[0]));
    const writes = writesOf(command);
    const writeErrors: Document[] = [];
    const upserted: Document[] = [];
    let [n, nModified] = [0, 0];
    for (const [index, write] of writes.entries()) {
      try {
        const done = this.#apply(collection, write);
        n += done.n;
        nModified += done.changed.length;
        if (done.upserted !== null) upserted.push({ index, _id: done.upserted['_id'] as unknown });
      } catch (error) {
        writeErrors.push(writeErrorOf(index, error));
        if (command['ordered'] !== false) break;
      }
    }
    return {
      ...{ n, nModified },
      ...(upserted.length === 0 ? {} : { upserted }),
      ...(writeErrors.length === 0 ? {} : { writeErrors }),
    };
  }

  #apply(collection: MemoryCollection, given: Write): Applied {
    const matched = collection.matching(given.filter, this.#asked);
    if (matched.length === 0 && !given.isUpsert) return NOTHING;
    const write = this.#asked(given);
    const { filter, update, isForMany, isUpsert, sort } = write;
    const sorted =
      sort === undefined || matched.length < 2 ? matched : aggregated(matched, [{ $sort: sort }]);
    const chosen = isForMany ? matched : sorted.slice(0, 1);
    if (chosen.length === 0 && isUpsert && update !== null) {
      const fresh = { _id: this.#mark(), ...inserted(filter, update) };
      collection.put(fresh, null);
      return { n: 1, before: null, changed: [], upserted: fresh };
    }
    const changed: Document[] = [];
    for (const found of chosen) {
      const document = collection.documents.get(keyOf(found['_id']));
      if (document === undefined) continue;
      if (update === null) collection.remove(document);
      else {
        const next = updated(document, write);
        if (keyOf(next) === keyOf(document)) continue;
        collection.put(next, document);
        changed.push(next);
      }
    }
    return { n: chosen.length, before: chosen[0] ?? null, changed, upserted: null };
  }

  #findAndModify(command: Document): Answer {
    const collection = this.#collection(String(command['findAndModify']));
    const [write] = writesOf(command);
    if (write === undefined) throw new CommandError(9, 'no write');
    const { n, before, changed, upserted } = this.#apply(collection, write);
    const isAfter = command['new'] === true;
    let value: Document | null = isAfter ? (upserted ?? changed[0] ?? before) : before;
    if (value !== null && command['fields'] !== undefined)
      value =
        aggregated([copied(value)], this.#asked([{ $project: command['fields'] as Document }]))[0] ?? null;
    return {
      value,
      lastErrorObject: {
        n,
        updatedExisting: n > 0 && upserted === null,
        ...(upserted === null ? {} : { upserted: upserted['_id'] as unknown }),
      },
    };
  }

  #mark(): string {
    return ID_MARK + this.#newId();
  }
}

/** As a server has the fields: first the id, then those of the document in their order, then what was computed. */
function inOrder(document: Document, before: Document, projection: Document): Document {
  const kept = Object.keys(before).filter((name) => name in document && isKept(projection[name]));
  const names = new Set(['_id', ...kept, ...Object.keys(document)].filter((name) => name in document));
  return Object.fromEntries([...names].map((name) => [name, document[name] as unknown]));
}

/** The field itself and not a value that is computed. */
function isKept(asked: unknown): boolean {
  return asked === undefined || asked === 1 || asked === true;
}

/** Stages of a pipeline that leave documents as they are. */
const READS_ONLY = new Set(['$match', '$sort', '$skip', '$limit']);

interface Lookup {
  readonly from: string;
  readonly as: string;
  readonly localField?: string;
  readonly foreignField?: string;
  readonly pipeline?: Document[];
}

interface Applied {
  readonly n: number;
  readonly before: Document | null;
  readonly changed: readonly Document[];
  readonly upserted: Document | null;
}

const NOTHING: Applied = { n: 0, before: null, changed: [], upserted: null };

function cursorOf(documents: readonly Document[]): Answer {
  return { cursor: { id: 0, ns: 'simulation.of', firstBatch: documents } };
}

function writeErrorOf(index: number, error: unknown): Document {
  if (!(error instanceof CommandError)) throw error;
  return { index, code: error.code, errmsg: error.message, ...error.more };
}
