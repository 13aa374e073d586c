import { encode } from '../bson/encode.ts';
import { tableOf } from '../collection-table.ts';
import type { CommandContext, Handlers } from '../context.ts';
import { commandError } from '../errors.ts';
import { collectionOf } from '../spec.ts';
import type { Request } from '../wire/request.ts';

async function run(context: CommandContext, sql: string): Promise<void> {
  await context.engine.rows({ sql, parameters: [], isOneOff: true });
}

/**
 * Writes a collection and its indexes into new files, which hold nothing that was deleted or replaced. Others wait for the
 * collection meanwhile.
 */
async function compact(request: Request, context: CommandContext): Promise<Buffer> {
  const name = collectionOf(request);
  const table = await tableOf(context.engine, request.db, name);
  if (table === undefined)
    throw commandError('NamespaceNotFound', `ns does not exist: ${request.db}.${name}`);
  await run(context, `VACUUM (FULL, ANALYZE) ${table}`);
  return encode({ bytesFreed: 0, ok: 1 });
}

/** Writes everything to the files of the data. After that the log of changes so far is of no use, and is removed. */
async function fsync(_request: Request, context: CommandContext): Promise<Buffer> {
  // Samples of documents, for the planner.
  await run(context, 'VACUUM (FULL) pg_catalog.pg_statistic');
  await run(context, 'SELECT pg_switch_wal()');
  await run(context, 'CHECKPOINT');
  return encode({ numFiles: 1, ok: 1 });
}

export const fileCommands: Handlers = { compact, fsync };
