import { setTimeout as delay } from 'node:timers/promises';
import type { Document } from 'mongodb';
import { decode, encode } from '../bson/encode.ts';
import type { CommandContext, Handlers } from '../context.ts';
import { duplicateMessage } from '../duplicate-keys.ts';
import { mongoCode, sqlstateOf } from '../engine-errors.ts';
import { CommandError, commandError, errorCode } from '../errors.ts';
import { StatementError } from '../postgres/errors.ts';
import { collectionOf, engineSpec, maxTimeOf } from '../spec.ts';
import type { Request } from '../wire/request.ts';

const create = `SELECT retval, ok, requests
  FROM documentdb_api.create_indexes_background($1::text, $2::documentdb_core.bson)`;

/**
 * The engine builds an index of an empty collection at once and queues the others for a job, which is run from here. The
 * answer is given when the index can be used.
 */
async function createIndexes(request: Request, context: CommandContext): Promise<Buffer> {
  collectionOf(request);
  const maxTimeMs = maxTimeOf(request.body);
  const [result, ok, queued] = await context.engine.row({
    sql: create,
    parameters: [request.db, engineSpec(request.body, ['commitQuorum'])],
    maxTimeMs,
  });
  const outcome = shardResult(result);
  if (ok?.[0] !== 1) throw failure(outcome, request);
  if (queued && Object.keys(decode(queued)).length > 0) {
    await buildQueued(request, context, Buffer.from(queued), maxTimeMs);
  }
  return encode({ ...outcome, ok: 1 });
}

const status = `SELECT retval, ok, complete
  FROM documentdb_api_internal.check_build_index_status($1::documentdb_core.bson)`;
const pollMs = 50;

/** Runs the build job instead of waiting for its turn; when another build holds it, waits until the queue is done. */
async function buildQueued(
  request: Request,
  context: CommandContext,
  queued: Buffer,
  maxTimeMs = Infinity,
): Promise<void> {
  const deadline = performance.now() + maxTimeMs;
  for (let turn = 0; ; turn += 1) {
    await runBuildJob(context, 1 + (turn % 2));
    const [result, ok, complete] = await context.engine.row({ sql: status, parameters: [queued] });
    if (ok?.[0] !== 1) throw failure(shardResult(result), request);
    if (complete?.[0] === 1) return;
    if (performance.now() > deadline) {
      throw commandError('MaxTimeMSExpired', 'operation exceeded time limit; the index build goes on');
    }
    await delay(pollMs);
  }
}

async function runBuildJob(context: CommandContext, job: number): Promise<void> {
  try {
    await context.engine.rows({
      sql: `CALL documentdb_api_internal.build_index_concurrently(${String(job)})`,
      parameters: [],
    });
  } catch (error) {
    // What became of the index shows in its status, which the caller asks for next.
    if (!(error instanceof StatementError)) throw error;
  }
}

/** Of `{raw: {defaultShard: {…}}}` the inner part, which is what a single server answers. */
function shardResult(result: Buffer | null | undefined): Document {
  if (!result) throw commandError('InternalError', 'The engine gave no result');
  const document = decode(result);
  const shards = Object.values((document['raw'] ?? {}) as Record<string, Document>);
  return shards[0] ?? document;
}

function failure(outcome: Document, request: Request): CommandError {
  const message = String(outcome['errmsg'] ?? 'The index cannot be built');
  const number = Number(outcome['code'] ?? errorCode.CannotCreateIndex);
  const state = sqlstateOf(number);
  const code = state === undefined ? number : mongoCode(state, message);
  if (code !== errorCode.DuplicateKey) return new CommandError(code, message);
  const index = /Index '([^']*)'/.exec(message)?.[1] ?? '';
  return new CommandError(code, duplicateMessage(`${request.db}.${collectionOf(request)}`, index));
}

async function dropIndexes(request: Request, context: CommandContext): Promise<Buffer> {
  collectionOf(request);
  const [result] = await context.engine.row({
    sql: 'CALL documentdb_api.drop_indexes($1::text, $2::documentdb_core.bson)',
    parameters: [request.db, engineSpec(request.body)],
    maxTimeMs: maxTimeOf(request.body),
  });
  const outcome = result ? decode(result) : {};
  if (outcome['ok'] !== true) throw failure(outcome, request);
  return encode({ ...outcome, ok: 1 });
}

async function listIndexes(request: Request, context: CommandContext): Promise<Buffer> {
  collectionOf(request);
  const [page] = await context.engine.row({
    sql: 'SELECT cursorPage FROM documentdb_api.list_indexes_cursor_first_page($1::text, $2::documentdb_core.bson)',
    parameters: [request.db, engineSpec(request.body)],
  });
  if (!page) throw commandError('InternalError', 'The engine gave no page');
  const reply = decode(page);
  const cursor = reply['cursor'] as { firstBatch: Document[] };
  // The engine's own note, which no MongoDB has and which would make equal definitions look different.
  for (const index of cursor.firstBatch) delete index['storageEngine'];
  return encode(reply);
}

export const indexCommands: Handlers = {
  createIndexes,
  dropIndexes,
  deleteIndexes: dropIndexes,
  listIndexes,
};
