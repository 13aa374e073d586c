import type { Document } from 'mongodb';
import { decode } from './bson/encode.ts';
import { splitSequence } from './bson/peek.ts';
import type { Engine } from './engine.ts';
import { commandError, type CommandError } from './errors.ts';
import type { StatementError } from './postgres/errors.ts';

interface Source {
  readonly engine: Engine;
  readonly db: string;
  readonly collection: string;
}

/** A batch: its operations are documents to insert, updates or deletes, as concatenated BSON. */
export interface BatchSource extends Source {
  readonly operations: Buffer;
}

/** An index that refused a value. */
interface Refusal {
  readonly name: string;
  readonly pattern: Document;
}

const idIndex: Refusal = { name: '_id_', pattern: { _id: 1 } };

/**
 * Completes the duplicate-key errors of a batch the way MongoDB words them: `E11000 …` with the namespace, the index
 * and the value, and `keyPattern` and `keyValue` where they can be told from the operation.
 */
export async function explainDuplicates(source: BatchSource, errors: readonly Document[]): Promise<void> {
  const operations = splitSequence(source.operations);
  const refusals = new Map<string, Refusal | undefined>();
  for (const error of errors) {
    const name = /Index '([^']*)'/.exec(String(error['errmsg']))?.[1] ?? '';
    if (!refusals.has(name)) refusals.set(name, await indexByName(source, name));
    const refusal = refusals.get(name);
    const operation = operations[Number(error['index'])];
    const value = refusal && operation ? keyValue(refusal.pattern, decode(operation)) : undefined;
    error['errmsg'] = duplicateMessage(namespaceOf(source), refusal?.name ?? name, value);
    if (refusal !== undefined) error['keyPattern'] = refusal.pattern;
    if (value !== undefined) error['keyValue'] = value;
  }
}

/** A unique violation that failed the whole command, such as a findAndModify, in MongoDB's words. */
export async function duplicateKeyError(source: Source, error: StatementError): Promise<CommandError> {
  const refusal = await refusalOf(source, error);
  const document = /\(BSONHEX([0-9A-Fa-f]+)/.exec(error.detail)?.[1];
  const isWhole = refusal !== undefined && refusal !== idIndex && document !== undefined;
  const value = isWhole ? keyValue(refusal.pattern, decode(Buffer.from(document, 'hex'))) : undefined;
  return commandError('DuplicateKey', duplicateMessage(namespaceOf(source), refusal?.name ?? '', value), {
    ...(refusal === undefined ? {} : { keyPattern: refusal.pattern }),
    ...(value === undefined ? {} : { keyValue: value }),
  });
}

/** MongoDB's sentence, which many programs recognise a duplicate by. */
export function duplicateMessage(namespace: string, index: string, value?: Document): string {
  const key = value === undefined ? '' : ` dup key: ${shown(value)}`;
  return `E11000 duplicate key error collection: ${namespace} index: ${index}${key}`;
}

function namespaceOf({ db, collection }: Source): string {
  return `${db}.${collection}`;
}

function shown(value: Document): string {
  const parts = Object.entries(value).map(([name, part]) => `${name}: ${JSON.stringify(part)}`);
  return `{ ${parts.join(', ')} }`;
}

/**
 * The value of every path of an index, from an inserted document, or from an upsert's update and filter. Undefined
 * when one of them cannot be told without running the update.
 */
function keyValue(pattern: Document, operation: Document): Document | undefined {
  const value: Document = {};
  for (const path of Object.keys(pattern)) {
    const found = sourcesOf(operation)
      .map((source) => valueAt(source, path))
      .find((candidate) => candidate !== undefined);
    if (found === undefined || (isPlain(found) && Object.keys(found).some((name) => name.startsWith('$')))) {
      return undefined;
    }
    value[path] = found;
  }
  return value;
}

function sourcesOf(operation: Document): Document[] {
  const update: unknown = operation['u'];
  if (update === undefined || !isPlain(operation['q'])) return [operation];
  if (!isPlain(update)) return [operation['q']];
  return [update['$set'], update['$setOnInsert'], update, operation['q']].filter(isPlain);
}

function valueAt(document: Document, path: string): unknown {
  if (path in document) return document[path];
  let value: unknown = document;
  for (const step of path.split('.')) value = isPlain(value) ? value[step] : undefined;
  return value;
}

function isPlain(value: unknown): value is Document {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

async function refusalOf(source: Source, error: StatementError): Promise<Refusal | undefined> {
  const constraint = /constraint "([^"]+)"/.exec(error.message)?.[1] ?? '';
  const named = /Index '([^']*)'/.exec(error.message)?.[1];
  if (named !== undefined) return await indexByName(source, named);
  if (constraint.startsWith('collection_pk_')) return idIndex;
  const id = /_(\d+)$/.exec(constraint)?.[1];
  if (id === undefined) return undefined;
  return await lookUp(source.engine, 'index_id = $1::int', [id]);
}

async function indexByName(source: Source, name: string): Promise<Refusal | undefined> {
  if (name === idIndex.name) return idIndex;
  return await lookUp(
    source.engine,
    `(index_spec).index_name = $1 AND collection_id = (
       SELECT collection_id FROM documentdb_api_catalog.collections
       WHERE database_name = $2 AND collection_name = $3)`,
    [name, source.db, source.collection],
  );
}

/** The details are an extra: when they cannot be had, the error itself must reach the client all the same. */
async function lookUp(engine: Engine, where: string, parameters: string[]): Promise<Refusal | undefined> {
  const call = {
    sql: `SELECT (index_spec).index_name, (index_spec).index_key
      FROM documentdb_api_catalog.collection_indexes WHERE ${where}`,
    parameters,
  };
  const rows = await engine.rows(call).catch(() => []);
  const [name, key] = rows[0] ?? [];
  return name && key ? { name: name.toString(), pattern: decode(key) } : undefined;
}
