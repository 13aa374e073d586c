import type { Document } from 'mongodb';
import { bsonType, documentLength, peek, splitSequence } from '../bson/peek.ts';
import { arrayOf, embedded, flagOf, numberOf } from '../bson/values.ts';
import { decode, encode } from '../bson/encode.ts';
import type { CommandContext, Handlers } from '../context.ts';
import { addPart, resumeConflicts } from '../conflicts.ts';
import { explainDuplicates, type BatchSource } from '../duplicate-keys.ts';
import { deadlocksInResult, oneByOne, type Call } from '../engine.ts';
import { mongoCode, sqlstateOf } from '../engine-errors.ts';
import { CommandError, commandError, errorCode } from '../errors.ts';
import { StatementError } from '../postgres/errors.ts';
import { collectionOf, engineSpec, maxTimeOf } from '../spec.ts';
import { firstPage } from './read.ts';
import type { Request } from '../wire/request.ts';

/** The three batch commands: the field that carries the operations, and the statement that runs them. */
interface Batch {
  readonly field: string;
  readonly call: (isSingle: boolean, isRetry: boolean) => Pick<Call, 'sql' | 'settings' | 'isRepeatable'>;
}

const parameters = '($1::text, $2::documentdb_core.bson, $3::documentdb_core.bsonsequence';
const insert = { sql: `SELECT p_result, p_success FROM documentdb_api.insert${parameters})` };
const removal = { sql: `SELECT p_result, p_success FROM documentdb_api.delete${parameters})` };
const update = { sql: `SELECT p_result, p_success FROM documentdb_api.update${parameters})` };
/** Commits as it goes, so that rivals for the same documents do not wait for the end of a long batch. */
const updateInParts = {
  sql: `CALL documentdb_api.update_bulk${parameters}, NULL::text, NULL, NULL)`,
  settings: [deadlocksInResult],
  isRepeatable: false,
};
const updateOneByOne = { ...updateInParts, settings: [deadlocksInResult, oneByOne] };

const batches = {
  insert: { field: 'documents', call: () => insert },
  update: {
    field: 'updates',
    call: (isSingle, isRetry) => (isSingle ? update : isRetry ? updateOneByOne : updateInParts),
  },
  delete: { field: 'deletes', call: () => removal },
} as const satisfies Record<string, Batch>;

/**
 * Hands a batch to the engine. A document sequence goes through as it came and a result without errors comes back as
 * it is: neither is decoded here.
 */
async function write(
  request: Request,
  context: CommandContext,
  { field, call }: Batch,
  operations = operationsOf(request, field),
): Promise<Buffer> {
  const collection = collectionOf(request);
  const spec = engineSpec(request.body, [field]);
  const run = async (part: Buffer, isRetry: boolean): Promise<[Buffer, boolean]> => {
    const [result, success] = await context.engine.row({
      ...call(isSingle(operations), isRetry),
      lane: `${request.db}.${collection}`,
      isRetry,
      parameters: [request.db, spec, part],
      maxTimeMs: maxTimeOf(request.body),
    });
    if (!result) throw commandError('InternalError', 'The engine gave no result');
    context.statistics.noteWritten(request.db, collection, numberOf(peek(result), 'n') ?? 0);
    return [result, success?.[0] === 1];
  };
  const [result, isClean] = await run(operations, false);
  if (isClean) return result;
  const whole = await resumeConflicts(decode(result), {
    operations,
    isOrdered: isOrdered(request),
    run: async (part) => decode((await run(part, true))[0]),
  });
  return encode(
    await withMongoErrors(whole, { engine: context.engine, db: request.db, collection, operations }),
  );
}

function isOrdered({ body }: Request): boolean {
  return !body.fields.has('ordered') || flagOf(body, 'ordered');
}

/**
 * Where it is to delete one document, the engine passes over it if a rival has just rewritten it, and deletes none. Of all
 * that match it misses none. So what is named by its id is deleted as all that has the id; anything else runs alone,
 * and again while something matches.
 */
async function remove(request: Request, context: CommandContext): Promise<Buffer> {
  const operations = splitSequence(operationsOf(request, batches.delete.field)).map(asAllOfId);
  if (!operations.some(isOfOne)) return write(request, context, batches.delete, Buffer.concat(operations));
  const whole: Document = { n: 0, ok: 1 };
  for (const [index, operation] of operations.entries()) {
    const query = isOfOne(operation) ? embedded(peek(operation), 'q') : undefined;
    const part = await repeated(
      async () => decode(await write(request, context, batches.delete, operation)),
      async ({ n, writeErrors }) =>
        n === 0 && writeErrors === undefined && query !== undefined && (await isAny(request, context, query)),
    );
    addPart(whole, part, [index]);
    if (isOrdered(request) && part['writeErrors'] !== undefined) break;
  }
  return encode(whole);
}

/** So often in a row, one is passed over only if rivals rewrite it all the time. */
const MOST_REPEATS = 20;

async function repeated<T>(run: () => Promise<T>, isMissed: (result: T) => Promise<boolean>): Promise<T> {
  for (let repeats = 0; ; repeats += 1) {
    const result = await run();
    if (repeats === MOST_REPEATS || !(await isMissed(result))) return result;
  }
}

function isOfOne(operation: Buffer): boolean {
  return numberOf(peek(operation), 'limit') === 1;
}

function asAllOfId(operation: Buffer): Buffer {
  const { fields } = peek(operation);
  const limit = fields.get('limit');
  const query = embedded(peek(operation), 'q');
  const id = query === undefined ? undefined : peek(query).fields.get('_id');
  if (limit === undefined || id === undefined || !isOfOne(operation) || MAY_BE_OF_MANY.has(id.type))
    return operation;
  const all = Buffer.from(operation);
  // Zero in any of the types of numbers.
  return all.fill(0, limit.value, limit.end);
}

/** Types of a condition on ids that several documents may meet. */
const MAY_BE_OF_MANY: ReadonlySet<number> = new Set([
  bsonType.document,
  bsonType.array,
  bsonType.regex,
  bsonType.undefined,
  bsonType.null,
]);

/** Whether a document matches now. */
async function isAny(request: Request, context: CommandContext, filter: Buffer): Promise<boolean> {
  const variables = embedded(request.body, 'let');
  const command = {
    ...{ find: collectionOf(request), filter: decode(filter), limit: 1, singleBatch: true },
    ...(variables === undefined ? {} : { let: decode(variables) }),
  };
  const [page] = await context.engine.row({
    sql: firstPage.find,
    parameters: [request.db, encode(command)],
    maxTimeMs: maxTimeOf(request.body),
    abort: context.clientLeft,
  });
  if (!page) throw commandError('InternalError', 'The engine gave no page');
  const { cursor } = decode(page) as { cursor: { firstBatch: unknown[] } };
  return cursor.firstBatch.length > 0;
}

/** The operations as concatenated BSON: a document sequence, or the array in the command's body. */
function operationsOf(request: Request, field: string): Buffer {
  const sequence = request.sequences.get(field);
  if (sequence !== undefined) return sequence;
  const array = arrayOf(request.body, field);
  if (array === undefined) {
    throw commandError(
      'FailedToParse',
      `The command "${request.name}" needs an array in its field "${field}"`,
    );
  }
  const { bytes, fields } = peek(array);
  return Buffer.concat(
    [...fields.values()].map(({ type, value, end }) => {
      if (type === bsonType.document) return bytes.subarray(value, end);
      throw commandError('TypeMismatch', `The field "${field}" must hold documents`);
    }),
  );
}

function isSingle(operations: Buffer): boolean {
  return operations.length > 0 && documentLength(operations, 0) === operations.length;
}

/** Puts MongoDB's codes into the write errors, and says of duplicate keys which index and value it was. */
async function withMongoErrors(result: Document, source: BatchSource): Promise<Document> {
  const errors = (result['writeErrors'] ?? []) as Document[];
  for (const error of errors) {
    const state = sqlstateOf(Number(error['code']));
    if (state !== undefined) error['code'] = mongoCode(state, String(error['errmsg']));
  }
  const duplicates = errors.filter((error) => error['code'] === errorCode.DuplicateKey);
  if (duplicates.length > 0) await explainDuplicates(source, duplicates);
  return result;
}

async function findAndModify(request: Request, context: CommandContext): Promise<Buffer> {
  const collection = collectionOf(request);
  const call: Call = {
    lane: `${request.db}.${collection}`,
    sql: `SELECT p_result, p_success FROM documentdb_api.find_and_modify($1::text, $2::documentdb_core.bson)`,
    parameters: [request.db, engineSpec(request.body)],
    maxTimeMs: maxTimeOf(request.body),
  };
  const isUpsert = flagOf(request.body, 'upsert');
  const isRemoval = flagOf(request.body, 'remove');
  const query = embedded(request.body, 'query') ?? encode({});
  const [result, success] = await repeated(
    () =>
      context.engine.row(call).catch((error: unknown) => {
        // Somebody else inserted it meanwhile: now there is something to modify.
        if (isUpsert && isDuplicateKey(error)) return context.engine.row(call);
        throw error;
      }),
    // A document to be removed is passed over as in `remove`.
    async ([found, isDone]) =>
      isRemoval &&
      isDone?.[0] === 1 &&
      found != null &&
      peek(found).fields.get('value')?.type === bsonType.null &&
      (await isAny(request, context, query)),
  );
  if (!result) throw commandError('InternalError', 'The engine gave no result');
  context.statistics.noteWritten(request.db, collection, 1);
  if (success?.[0] === 1) return result;
  throw failureOf(decode(result));
}

function isDuplicateKey(error: unknown): boolean {
  return error instanceof StatementError && mongoCode(error.sqlstate, '') === errorCode.DuplicateKey;
}

function failureOf(outcome: Document): CommandError {
  const state = sqlstateOf(Number(outcome['code']));
  const message = String(outcome['errmsg'] ?? 'The engine refused the command');
  return new CommandError(state === undefined ? errorCode.InternalError : mongoCode(state, message), message);
}

/** Transactions need a replica set; refusing them is better than writing outside of one. */
export function refuseTransaction(request: Request): void {
  const { fields } = request.body;
  if (flagOf(request.body, 'startTransaction') || fields.has('autocommit')) {
    throw commandError(
      'IllegalOperation',
      'Transaction numbers are only allowed on a replica set member or mongos',
    );
  }
}

export const writeCommands: Handlers = {
  insert: (request, context) => write(request, context, batches.insert),
  update: (request, context) => write(request, context, batches.update),
  delete: remove,
  findAndModify,
  findandmodify: findAndModify,
};
