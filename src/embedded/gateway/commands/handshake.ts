import { flagOf } from '../bson/values.ts';
import { encode } from '../bson/encode.ts';
import type { CommandContext, Handlers } from '../context.ts';
import type { Request } from '../wire/request.ts';
import { maxMessageBytes } from '../wire/frames.ts';

/** The MongoDB release whose behaviour the replies follow, and its wire version. */
export const serverVersion = '7.0.0';
const wireVersion = 21;

/** The engine refuses bigger batches; drivers split by this number. */
const maxWriteBatchSize = 25_000;
const maxDocumentBytes = 16 * 1024 * 1024;

/** Greets as a standalone server, which is offered neither retryable writes nor transactions. */
function hello(request: Request, context: CommandContext): Buffer {
  return encode({
    helloOk: flagOf(request.body, 'helloOk') ? true : undefined,
    ...(request.name === 'hello' ? { isWritablePrimary: true } : { ismaster: true }),
    maxBsonObjectSize: maxDocumentBytes,
    maxMessageSizeBytes: maxMessageBytes,
    maxWriteBatchSize,
    localTime: new Date(),
    logicalSessionTimeoutMinutes: 30,
    connectionId: context.connectionId,
    minWireVersion: 0,
    maxWireVersion: wireVersion,
    readOnly: false,
    ok: 1,
  });
}

function buildInfo(): Buffer {
  return encode({
    version: serverVersion,
    versionArray: [...serverVersion.split('.').map(Number), 0],
    gitVersion: 'none',
    modules: [],
    storageEngines: ['documentdb'],
    bits: 64,
    debug: false,
    maxBsonObjectSize: maxDocumentBytes,
    ok: 1,
  });
}

export const handshakeCommands: Handlers = {
  hello,
  isMaster: hello,
  ismaster: hello,
  ping: () => encode({ ok: 1 }),
  buildInfo,
  buildinfo: buildInfo,
  connectionStatus: () => encode({ authInfo: { authenticatedUsers: [], authenticatedUserRoles: [] }, ok: 1 }),
  whatsmyuri: () => encode({ you: '127.0.0.1', ok: 1 }),
};
