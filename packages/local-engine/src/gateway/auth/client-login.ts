import type { Document } from 'mongodb';
import { commandError } from '../errors.ts';
import { ScramRefusal, startServerScram, type ServerExchange, type Verifier } from './scram-server.ts';

export const MECHANISM = 'SCRAM-SHA-256';

/** What a client may send before it has logged in: the handshake, what monitors of drivers send, and the login. */
const PERMITTED_BEFORE = new Set([
  'hello',
  'isMaster',
  'ismaster',
  'ping',
  'buildInfo',
  'buildinfo',
  'connectionStatus',
  'saslStart',
  'saslContinue',
]);

/** The login of one client. Without a verifier everybody is let in, for tests of the gateway alone. */
export class ClientLogin {
  readonly #verifier: Verifier | undefined;
  #exchange: ServerExchange | undefined;
  #conversation = 0;
  #isDone: boolean;

  constructor(verifier: Verifier | undefined) {
    this.#verifier = verifier;
    this.#isDone = verifier === undefined;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  /** The user that logged in; undefined where nobody has to. */
  get user(): string | undefined {
    return this.#isDone ? this.#verifier?.user : undefined;
  }

  permits(command: string): boolean {
    return this.#isDone || PERMITTED_BEFORE.has(command);
  }

  /** Answers `saslStart`, or the same inside a handshake. Throws CommandError. */
  start(mechanism: unknown, payload: unknown): Document {
    if (mechanism !== MECHANISM)
      throw commandError('MechanismUnavailable', `Only ${MECHANISM} is supported for authentication`);
    const verifier = this.#verifier;
    if (verifier === undefined) throw commandError('AuthenticationFailed', 'This server has no users');
    this.#conversation += 1;
    this.#exchange = refuseAsCommand(() => startServerScram(verifier, bytesOf(payload)));
    return this.#reply(false, this.#exchange.challenge);
  }

  /** Answers `saslContinue`. Throws CommandError; the client then has to start again. */
  proceed(conversation: unknown, payload: unknown): Document {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    if (exchange === undefined || conversation !== this.#conversation)
      throw commandError('AuthenticationFailed', 'No login is under way in this conversation');
    const outcome = refuseAsCommand(() => exchange.finish(bytesOf(payload)));
    this.#isDone = true;
    return this.#reply(true, outcome);
  }

  #reply(done: boolean, payload: Buffer): Document {
    return { conversationId: this.#conversation, done, payload };
  }
}

function refuseAsCommand<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof ScramRefusal) throw commandError('AuthenticationFailed', 'Authentication failed.');
    throw error;
  }
}

/** BSON binary as the decoder gives it, or text, which some clients send. */
function bytesOf(payload: unknown): Buffer {
  if (typeof payload === 'string') return Buffer.from(payload, 'base64');
  if (payload instanceof Uint8Array) return Buffer.from(payload);
  const binary = payload as { readonly buffer?: unknown } | null | undefined;
  return binary?.buffer instanceof Uint8Array ? Buffer.from(binary.buffer) : Buffer.alloc(0);
}
