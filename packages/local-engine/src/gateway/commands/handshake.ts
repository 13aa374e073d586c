import type { Document } from 'mongodb';
import { MECHANISM, type ClientLogin } from '../auth/client-login.ts';
import { flagOf } from '../bson/values.ts';
import { decode, encode } from '../bson/encode.ts';
import type { CommandContext, Handlers } from '../context.ts';
import { CommandError } from '../errors.ts';
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
    ...loginOffer(request, context),
    ok: 1,
  });
}

/** What a client asks in its handshake to log in with one round trip less. */
function loginOffer(request: Request, { login }: CommandContext): Document {
  const asked = decode(request.body.bytes);
  const begun = asked['speculativeAuthenticate'] as Partial<Record<string, unknown>> | undefined;
  return {
    saslSupportedMechs: asked['saslSupportedMechs'] === undefined ? undefined : [MECHANISM],
    speculativeAuthenticate: begun === undefined ? undefined : startOrNothing(login, begun),
  };
}

/** A login that cannot begin here is refused when the client asks for it outright. */
function startOrNothing(login: ClientLogin, begun: Partial<Record<string, unknown>>): Document | undefined {
  try {
    return login.start(begun['mechanism'], begun['payload']);
  } catch (error) {
    if (error instanceof CommandError) return undefined;
    throw error;
  }
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
  whatsmyuri: () => encode({ you: 'a local socket', ok: 1 }),
};
