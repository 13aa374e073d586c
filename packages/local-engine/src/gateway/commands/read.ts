import { arrayOf, flagOf, longOf, textOf } from '../bson/values.ts';
import { peek } from '../bson/peek.ts';
import { encode } from '../bson/encode.ts';
import type { CommandContext, Handlers } from '../context.ts';
import { commandError } from '../errors.ts';
import { collectionOf, engineSpec, maxTimeOf, sessionOf } from '../spec.ts';
import type { Request } from '../wire/request.ts';
import { explainCommand } from './explain.ts';

const columns = 'cursorPage, continuation, persistConnection, cursorId';
/** Statements of the commands that open a cursor. */
export const firstPage = {
  find: `SELECT ${columns} FROM documentdb_api.find_cursor_first_page($1::text, $2::documentdb_core.bson)`,
  aggregate: `SELECT ${columns} FROM documentdb_api.aggregate_cursor_first_page($1::text, $2::documentdb_core.bson)`,
} as const;

async function find(request: Request, context: CommandContext): Promise<Buffer> {
  collectionOf(request);
  if (flagOf(request.body, 'tailable')) {
    throw commandError(
      'BadValue',
      'error processing query: tailable cursor requested on non capped collection',
    );
  }
  return await openCursor(request, context, firstPage.find, collectionOf(request));
}

async function aggregate(request: Request, context: CommandContext): Promise<Buffer> {
  if (flagOf(request.body, 'explain'))
    return await explainCommand(request.body, request.db, 'queryPlanner', context);
  // `aggregate: 1` works on the database itself.
  const collection = textOf(request.body, 'aggregate') ?? '$cmd.aggregate';
  return await openCursor(request, context, firstPage.aggregate, collection, writes(request));
}

/** Whether the pipeline ends in a stage that stores its result; such names in data make it no less safe. */
function writes(request: Request): boolean {
  const pipeline = arrayOf(request.body, 'pipeline');
  return pipeline !== undefined && (pipeline.includes('$merge\0') || pipeline.includes('$out\0'));
}

async function openCursor(
  request: Request,
  context: CommandContext,
  sql: string,
  collection: string,
  isWrite = false,
): Promise<Buffer> {
  const [page, continuation, persistent, id] = await context.engine.row({
    sql,
    parameters: [request.db, engineSpec(request.body)],
    maxTimeMs: maxTimeOf(request.body),
    ...(isWrite ? {} : { abort: context.clientLeft }),
  });
  if (!page) throw commandError('InternalError', 'The engine gave no page');
  if (continuation && id) {
    // Such a cursor would live in one connection of the pool; the session settings rule it out.
    if (persistent?.[0] === 1)
      throw commandError('InternalError', 'The engine tied a cursor to its connection');
    context.cursors.add({
      id: id.readBigInt64BE(0),
      db: request.db,
      namespace: `${request.db}.${collection}`,
      session: sessionOf(request.body),
      continuation: Buffer.from(continuation),
    });
  }
  return page;
}

const nextPage = `SELECT cursorPage, continuation
  FROM documentdb_api.cursor_get_more($1::text, $2::documentdb_core.bson, $3::documentdb_core.bson)`;

async function getMore(request: Request, context: CommandContext): Promise<Buffer> {
  const id = longOf(request.body, 'getMore');
  if (id === undefined) throw commandError('TypeMismatch', 'The field "getMore" must be a 64-bit integer');
  const namespace = `${request.db}.${textOf(request.body, 'collection') ?? ''}`;
  const cursor = context.cursors.get(id);
  if (cursor === undefined) throw commandError('CursorNotFound', `cursor id ${String(id)} not found`);
  if (cursor.namespace !== namespace) {
    const owner = `but cursor belongs to a different namespace ${cursor.namespace}`;
    throw commandError('Unauthorized', `Requested getMore on namespace '${namespace}', ${owner}`);
  }
  if (cursor.isBusy) throw commandError('CursorInUse', `cursor id ${String(id)} is already in use`);
  cursor.isBusy = true;
  try {
    const [page, continuation] = await context.engine.row({
      sql: nextPage,
      parameters: [cursor.db, engineSpec(request.body), cursor.continuation],
      maxTimeMs: maxTimeOf(request.body),
      abort: context.clientLeft,
    });
    if (!page) throw commandError('InternalError', 'The engine gave no page');
    if (continuation) context.cursors.renew(cursor, Buffer.from(continuation));
    else context.cursors.remove(id);
    return page;
  } catch (error) {
    // As in MongoDB, a cursor does not outlive an error of its query.
    context.cursors.kill([id]);
    throw error;
  } finally {
    cursor.isBusy = false;
  }
}

function killCursors(request: Request, context: CommandContext): Buffer {
  const list = request.body.fields.get('cursors');
  if (list === undefined) throw commandError('FailedToParse', 'The field "cursors" is missing');
  const array = peek(request.body.bytes.subarray(list.value, list.end));
  const ids = [...array.fields.keys()].map((index) => longOf(array, index) ?? 0n);
  const killed = new Set(context.cursors.kill(ids));
  return encode({
    cursorsKilled: [...killed],
    cursorsNotFound: ids.filter((id) => !killed.has(id)),
    cursorsAlive: [],
    cursorsUnknown: [],
    ok: 1,
  });
}

async function single(request: Request, context: CommandContext, sql: string): Promise<Buffer> {
  collectionOf(request);
  const [document] = await context.engine.row({
    sql,
    parameters: [request.db, engineSpec(request.body)],
    maxTimeMs: maxTimeOf(request.body),
    abort: context.clientLeft,
  });
  if (!document) throw commandError('InternalError', 'The engine gave no answer');
  return document;
}

export const readCommands: Handlers = {
  find,
  aggregate,
  getMore,
  killCursors,
  count: (request, context) =>
    single(
      request,
      context,
      'SELECT document FROM documentdb_api.count_query($1::text, $2::documentdb_core.bson)',
    ),
  distinct: (request, context) =>
    single(
      request,
      context,
      'SELECT document FROM documentdb_api.distinct_query($1::text, $2::documentdb_core.bson)',
    ),
};
