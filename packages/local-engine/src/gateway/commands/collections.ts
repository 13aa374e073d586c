import { decode, encode } from '../bson/encode.ts';
import type { CommandContext, Handlers } from '../context.ts';
import { commandError } from '../errors.ts';
import type { Parameter } from '../postgres/messages.ts';
import { collectionOf, engineSpec, maxTimeOf } from '../spec.ts';
import type { Request } from '../wire/request.ts';

async function call(
  request: Request,
  context: CommandContext,
  sql: string,
  parameters: readonly Parameter[],
): Promise<Buffer> {
  const [result] = await context.engine.row({ sql, parameters, maxTimeMs: maxTimeOf(request.body) });
  if (!result) throw commandError('InternalError', 'The engine gave no answer');
  return result;
}

async function create(request: Request, context: CommandContext): Promise<Buffer> {
  collectionOf(request);
  return await call(
    request,
    context,
    'SELECT documentdb_api.create_collection_view($1::text, $2::documentdb_core.bson)',
    [request.db, engineSpec(request.body)],
  );
}

/** Dropping what does not exist is no error, as in MongoDB 7. */
async function drop(request: Request, context: CommandContext): Promise<Buffer> {
  const collection = collectionOf(request);
  const namespace = `${request.db}.${collection}`;
  context.cursors.killWhere((cursor) => cursor.namespace === namespace);
  const existed = await call(request, context, 'SELECT documentdb_api.drop_collection($1::text, $2::text)', [
    request.db,
    collection,
  ]);
  return encode(existed[0] === 1 ? { ns: namespace, ok: 1 } : { ok: 1 });
}

async function dropDatabase(request: Request, context: CommandContext): Promise<Buffer> {
  context.cursors.killWhere((cursor) => cursor.db === request.db);
  await context.engine.rows({
    sql: 'SELECT documentdb_api.drop_database($1::text)',
    parameters: [request.db],
  });
  return encode({ dropped: request.db, ok: 1 });
}

async function collMod(request: Request, context: CommandContext): Promise<Buffer> {
  const sql = 'SELECT documentdb_api.coll_mod($1::text, $2::text, $3::documentdb_core.bson)';
  return await call(request, context, sql, [request.db, collectionOf(request), engineSpec(request.body)]);
}

async function renameCollection(request: Request, context: CommandContext): Promise<Buffer> {
  const sql = 'SELECT documentdb_api.rename_collection($1::documentdb_core.bson)';
  return await call(request, context, sql, [engineSpec(request.body)]);
}

async function listCollections(request: Request, context: CommandContext): Promise<Buffer> {
  const sql =
    'SELECT cursorPage FROM documentdb_api.list_collections_cursor_first_page($1::text, $2::documentdb_core.bson)';
  return await call(request, context, sql, [request.db, engineSpec(request.body)]);
}

async function listDatabases(request: Request, context: CommandContext): Promise<Buffer> {
  const sql = 'SELECT documentdb_api.list_databases($1::documentdb_core.bson)';
  return await call(request, context, sql, [engineSpec(request.body)]);
}

async function collStats(request: Request, context: CommandContext): Promise<Buffer> {
  const sql = 'SELECT documentdb_api.coll_stats($1::text, $2::text, $3::float8)';
  return await call(request, context, sql, [request.db, collectionOf(request), scaleOf(request)]);
}

async function dbStats(request: Request, context: CommandContext): Promise<Buffer> {
  return await call(request, context, 'SELECT documentdb_api.db_stats($1::text, $2::float8)', [
    request.db,
    scaleOf(request),
  ]);
}

function scaleOf(request: Request): string {
  const scale = Number(decode(request.body.bytes)['scale'] ?? 1);
  if (!(scale >= 1)) throw commandError('BadValue', 'The field "scale" must be a number of at least 1');
  return String(scale);
}

/** MongoDB forgets its plans and plans again; here fresh statistics do that. For use after a bulk load. */
async function planCacheClear(request: Request, context: CommandContext): Promise<Buffer> {
  await context.statistics.refresh(request.db, collectionOf(request));
  return encode({ ok: 1 });
}

export const collectionCommands: Handlers = {
  create,
  drop,
  dropDatabase,
  collMod,
  renameCollection,
  planCacheClear,
  listCollections,
  listDatabases,
  collStats,
  collstats: collStats,
  dbStats,
  dbstats: dbStats,
};
