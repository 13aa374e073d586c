import { BsonFault } from './bson/peek.ts';
import { encode } from './bson/encode.ts';
import { collectionCommands } from './commands/collections.ts';
import { diagnosticCommands } from './commands/diagnostics.ts';
import { fileCommands } from './commands/files.ts';
import { explainCommands } from './commands/explain.ts';
import { handshakeCommands } from './commands/handshake.ts';
import { indexCommands } from './commands/indexes.ts';
import { loginCommands } from './commands/login.ts';
import { readCommands } from './commands/read.ts';
import { sessionCommands } from './commands/sessions.ts';
import { refuseTransaction, writeCommands } from './commands/write.ts';
import type { CommandContext, Handler } from './context.ts';
import { duplicateKeyError } from './duplicate-keys.ts';
import { mongoCode } from './engine-errors.ts';
import { CommandError, commandError, errorCode, errorReply } from './errors.ts';
import { ConnectionLost, PoolTimeout, StatementError, Unreachable } from './postgres/errors.ts';
import { textOf } from './bson/values.ts';
import type { Request } from './wire/request.ts';

const handlers = new Map<string, Handler>(
  Object.entries({
    ...handshakeCommands,
    ...loginCommands,
    ...sessionCommands,
    ...diagnosticCommands,
    ...fileCommands,
    ...collectionCommands,
    ...indexCommands,
    ...readCommands,
    ...writeCommands,
    ...explainCommands,
  }),
);

/**
 * Answers a request, if need be with MongoDB's form of an error. Rejects with ConnectionLost only: what became of the
 * command is then unknown, and the client has to be told so in the one way it understands, by a broken connection.
 */
export async function dispatch(request: Request, context: CommandContext): Promise<Buffer> {
  try {
    if (!context.login.permits(request.name))
      throw commandError('Unauthorized', `Command ${request.name} requires authentication`);
    const handler = handlers.get(request.name);
    if (handler === undefined) throw commandError('CommandNotFound', `no such command: '${request.name}'`);
    refuseTransaction(request);
    return await handler(request, context);
  } catch (error) {
    return encode(errorReply(await commandErrorOf(error, request, context)));
  }
}

async function commandErrorOf(
  error: unknown,
  request: Request,
  context: CommandContext,
): Promise<CommandError> {
  if (error instanceof CommandError) return error;
  if (error instanceof StatementError) return await fromStatement(error, request, context);
  if (error instanceof BsonFault) return commandError('InvalidBSON', error.message);
  if (!context.clientLeft.aborted) context.onFault(error instanceof Error ? error : new Error(String(error)));
  if (error instanceof ConnectionLost) throw error;
  if (error instanceof PoolTimeout) return commandError('ExceededTimeLimit', error.message);
  // Drivers count this code among those of a server that goes away: they look for it again and repeat reads.
  if (error instanceof Unreachable) return commandError('ShutdownInProgress', error.message);
  return commandError('InternalError', `The gateway failed: ${String(error)}`);
}

async function fromStatement(
  error: StatementError,
  request: Request,
  context: CommandContext,
): Promise<CommandError> {
  const code = mongoCode(error.sqlstate, error.message);
  if (code === errorCode.DuplicateKey) {
    const collection = textOf(request.body, request.name) ?? '';
    return await duplicateKeyError({ engine: context.engine, db: request.db, collection }, error);
  }
  if (code === errorCode.MaxTimeMSExpired) return new CommandError(code, 'operation exceeded time limit');
  return new CommandError(code, error.message);
}
