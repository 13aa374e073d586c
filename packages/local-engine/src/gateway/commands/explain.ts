import type { Document } from 'mongodb';
import { decode, encode } from '../bson/encode.ts';
import { peek, type Peeked } from '../bson/peek.ts';
import { embedded, textOf } from '../bson/values.ts';
import type { CommandContext, Handlers } from '../context.ts';
import { commandError } from '../errors.ts';
import { executionOf, planOf, readPlan } from '../plan.ts';
import { engineSpec, maxTimeOf } from '../spec.ts';
import { serverVersion } from './handshake.ts';

interface Explainable {
  /** The last part of the name of the engine's table function that stands for the command. */
  readonly source: string;
  readonly isWrite: boolean;
  /** The command as that function takes it. */
  readonly spec: (body: Peeked) => Buffer;
}

const explainable: Readonly<Record<string, Explainable>> = {
  find: { source: 'find', isWrite: false, spec: readSpec },
  aggregate: { source: 'pipeline', isWrite: false, spec: readSpec },
  count: { source: 'count', isWrite: false, spec: readSpec },
  distinct: { source: 'distinct', isWrite: false, spec: readSpec },
  update: { source: 'update', isWrite: true, spec: readSpec },
  delete: { source: 'delete', isWrite: true, spec: readSpec },
  // The engine cannot plan this one; how it finds its document is a find with the same filter and order.
  findAndModify: { source: 'find', isWrite: false, spec: findAndModifySpec },
};

const verbosities = new Set(['queryPlanner', 'executionStats', 'allPlansExecution']);

async function explain(body: Peeked, db: string, context: CommandContext): Promise<Buffer> {
  const inner = embedded(body, 'explain');
  if (inner === undefined) throw commandError('FailedToParse', 'The field "explain" must be a command');
  const verbosity = textOf(body, 'verbosity') ?? 'allPlansExecution';
  if (!verbosities.has(verbosity)) {
    throw commandError('BadValue', `verbosity string must be one of ${[...verbosities].join(', ')}`);
  }
  return await explainCommand(peek(inner), db, verbosity, context, maxTimeOf(body));
}

/**
 * Explains a command the way MongoDB does, as far as PostgreSQL's plan tells it: `queryPlanner.winningPlan` as a tree
 * of stages, `executionStats` when asked for, and the plan itself in `postgres`. A write is planned, never run.
 */
export async function explainCommand(
  command: Peeked,
  db: string,
  verbosity: string,
  context: CommandContext,
  maxTimeMs?: number,
): Promise<Buffer> {
  const [name = ''] = command.fields.keys();
  const kind = explainable[name === 'findandmodify' ? 'findAndModify' : name];
  if (kind === undefined)
    throw commandError('CommandNotFound', `Explain failed due to unknown command: ${name}`);
  const isRun = verbosity !== 'queryPlanner' && !kind.isWrite;
  const [json] = await context.engine.row({
    sql: `EXPLAIN (FORMAT JSON, ANALYZE ${isRun ? 'ON' : 'OFF'})
      SELECT document FROM documentdb_api_catalog.bson_aggregation_${kind.source}($1::text, $2::documentdb_core.bson)`,
    parameters: [db, kind.spec(command)],
    maxTimeMs,
  });
  if (!json) throw commandError('InternalError', 'PostgreSQL gave no plan');
  const plan = readPlan(json);
  return encode({
    explainVersion: '1',
    queryPlanner: {
      namespace: `${db}.${textOf(command, name) ?? '$cmd'}`,
      winningPlan: planOf(plan),
      rejectedPlans: [],
    },
    ...(isRun ? { executionStats: executionOf(plan) } : {}),
    command: decode(command.bytes),
    serverInfo: { host: 'localhost', version: serverVersion },
    postgres: plan.raw,
    ok: 1,
  });
}

function readSpec(body: Peeked): Buffer {
  return engineSpec(body, ['explain']);
}

function findAndModifySpec(body: Peeked): Buffer {
  const command = decode(body.bytes) as Record<string, unknown>;
  const find: Document = { find: command['findAndModify'] ?? command['findandmodify'], limit: 1 };
  const renamed = { query: 'filter', sort: 'sort', hint: 'hint', collation: 'collation' };
  for (const [from, to] of Object.entries(renamed)) find[to] = command[from];
  return encode(find);
}

export const explainCommands: Handlers = {
  explain: (request, context) => explain(request.body, request.db, context),
};
