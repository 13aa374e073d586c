import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type {
  DocumentNode,
  ExecutionArgs,
  ExecutionResult,
  GraphQLError,
  GraphQLSchema,
  FormattedExecutionResult,
  GraphQLFormattedError,
} from 'graphql';
import { CloseCode, type ServerOptions, type SubscribePayload } from 'graphql-ws';
import type { WebSocket } from 'ws';
import type { HttpContext } from '../http-context.ts';
import type { Locale } from '../../descriptors/locale.ts';
import { FanfareError } from '../../domain/errors.ts';
import type { Identity } from '../../domain/viewer.ts';
import { apiError } from '../../graphql/errors.ts';
import type { WrittenResult } from '../../graphql/rendering/answer.ts';
import type { SessionEnds } from '../../live/session-ends.ts';
import { logTokenRefused } from '../../telemetry/events.ts';
import { saidToReader, unauthenticated, type Caller } from '../identity/auth.ts';
import { callAt } from '../limits/deadline.ts';
import { OnDispose } from '../../lib/closer.ts';
import type { UnderWay } from '../limits/intake.ts';
import type { RequestContext } from '../execution/operation-context.ts';
import { operationName } from '../execution/plugins/request-guard.ts';
import {
  noOperationsById,
  operationIdOf,
  type PersistedOperations,
} from '../execution/persisted-operations.ts';
import { refusalFor, type RateLimits } from '../limits/rate-limit.ts';
import { SocketFrames, type SocketWriter } from '../exchange/socket-frames.ts';
import type { YogaApp } from '../execution/yoga.ts';
import { toByteText } from '../../lib/byte-text.ts';
import { cut } from '../../lib/cut.ts';

type ConnectionParams = Readonly<Record<string, unknown>> | undefined;

/** Maximum length of a close reason. */
const MAX_REASON_BYTES = 123;

/**
 * A socket's credential in the form of the header: `authorization` in any letter case, or `token`, with or without "Bearer".
 * Undefined if there is neither. Throws UNAUTHENTICATED if it is not a string.
 */
function authorizationOf(params: ConnectionParams): string | undefined {
  const authorization = textOf(params, 'authorization');
  if (authorization !== undefined) return authorization;
  const token = textOf(params, 'token');
  return token === undefined || /^bearer\s/i.test(token) ? token : `Bearer ${token}`;
}

/** Throws UNAUTHENTICATED if it is not a string. */
function textOf(params: ConnectionParams, name: string): string | undefined {
  const [given, value] = Object.entries(params ?? {}).find(([key]) => key.toLowerCase() === name) ?? [];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string')
    throw unauthenticated(`The connection parameter "${given ?? name}" is not a string`);
  return value;
}

/** The text, truncated to fit into a close frame. */
export function closeReason(text: string): string {
  let reason = text;
  while (Buffer.byteLength(reason) > MAX_REASON_BYTES) reason = cut(reason, reason.length - 1);
  return reason;
}

export interface Connection {
  readonly socket: WebSocket;
  /** The stream below it. */
  readonly stream: Duplex;
  /** Writes to it directly, bypassing the protocol. */
  readonly writer: SocketWriter;
  /** Without an identity until `connection_init`. */
  caller: Caller;
  /** The language of its sentences. */
  readonly locale: Locale;
  /** Operations in progress, by id; `null` until `connection_init`. */
  operations: Readonly<Record<string, unknown>> | null;
  /** Closes the socket without `connection_init` in time. */
  readonly initDeadline: Disposable;
  /** When an operation last started or was seen in progress, on the `performance.now()` clock. */
  activeAt: number;
  /** The rooms of answers that are being made, by the ids of their operations. */
  rooms?: Map<string, Disposable> | undefined;
  /** The message being processed. */
  message?: { readonly underWay: UnderWay; readonly isLarge: boolean } | undefined;
}

type Hooks = ServerOptions<Record<string, unknown>, Connection>;
type Result = ExecutionResult | WrittenResult | AsyncIterable<ExecutionResult>;

/** Yoga's execution stages, which it does not type. */
interface Stages {
  readonly schema: GraphQLSchema;
  parse(document: string): DocumentNode;
  validate(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[];
  contextFactory(): unknown;
  execute(args: ExecutionArgs): Promise<Result>;
  subscribe(args: ExecutionArgs): Promise<Result>;
}

interface Running {
  readonly stages: Stages;
  /** The message it came in; counts until the operation has its result, or its stream. */
  readonly underWay: UnderWay | undefined;
  readonly request: RequestContext;
  readonly frames: SocketFrames;
  /** The room of its answer, while that is being made. */
  readonly room: Disposable;
}

const TRY_AGAIN_LATER = 1013;
const NEEDS_TOKEN = 'This requires a token: connectionParams {authorization: "Bearer <token>"}';

/**
 * Handlers of a socket, called by the protocol. Operations run through the same plugins as over HTTP. Faults of one
 * operation are reported as its errors and leave the socket open.
 */
export function createSocketOperations(http: HttpContext, yoga: YogaApp): Hooks {
  const { limits, rateLimits, persisted, answers, observer } = http;
  const running = new WeakMap<ExecutionArgs, Running>();

  async function prepare(
    connection: Connection,
    id: string,
    payload: SubscribePayload,
  ): Promise<ExecutionArgs | readonly GraphQLError[]> {
    const { caller, message, locale, writer } = connection;
    const params = { ...payload, variables: payload.variables ?? {} };
    const { answer, room: made } = answers.open(caller);
    const room = kept(connection, id, made);
    const frames = new SocketFrames(writer, id);
    const request: RequestContext = {
      caller,
      answer,
      startedAt: performance.now(),
      params,
      mayStream: true,
      locale,
      frames,
    };
    let errors: readonly GraphQLError[];
    try {
      const over = await countRequest(rateLimits, caller);
      if (over !== null) throw over;
      if (message?.isLarge === true) await nextTurn();
      // Yoga's own context would also have an HTTP request; its plugins work without one.
      const stages = yoga.getEnveloped(request) as Stages;
      const { schema } = stages;
      const document = stages.parse(documentFor(persisted, params, caller));
      errors = stages.validate(schema, document);
      if (errors.length === 0) {
        const args: ExecutionArgs = {
          schema,
          document,
          operationName: payload.operationName ?? null,
          variableValues: params.variables,
          contextValue: await stages.contextFactory(),
        };
        running.set(args, { stages, request, frames, room, underWay: message?.underWay });
        return args;
      }
    } catch (error) {
      errors = [observer.presentError(error)];
    }
    room[Symbol.dispose]();
    observer.finished(operationName(request), errors, request.startedAt);
    return errors;
  }

  async function run(args: ExecutionArgs, how: 'execute' | 'subscribe'): Promise<Result> {
    const operation = running.get(args);
    if (operation === undefined) throw new Error('The operation was not prepared');
    // A subscription may last for days: drop what is no longer needed from what Yoga and the protocol keep of it.
    running.delete(args);
    const { stages, request, frames, underWay } = operation;
    // Frames that wait to be sent are counted by the socket.
    using _made = operation.room;
    let result: Result;
    try {
      result = await stages[how](args);
    } catch (error) {
      result = { errors: [observer.presentError(error)] };
    }
    underWay?.[Symbol.dispose]();
    const errors = Symbol.asyncIterator in result ? undefined : result.errors;
    observer.finished(operationName(request), errors, request.startedAt);
    args.contextValue = undefined;
    if (request.params !== undefined) Object.assign(request.params, { query: '' });
    // Yoga's wrappers, which would stay as long as the subscription, do nothing that the stream has not done.
    return frames.takeStream() ?? ('stringify' in result ? sent(result, frames) : result);
  }

  return {
    async onConnect(connection) {
      const { connectionParams, extra, subscriptions } = connection;
      extra.initDeadline[Symbol.dispose]();
      const isAdmitted = await admit(http, extra, connectionParams);
      extra.activeAt = performance.now();
      extra.operations = subscriptions;
      // The token is not needed any more while the socket is open.
      Object.assign(connection, { connectionParams: undefined });
      const { identity } = extra.caller;
      return isAdmitted && identity !== null ? saidToReader(identity, extra.locale) : isAdmitted;
    },
    onSubscribe({ subscriptions, extra }, id, payload) {
      extra.activeAt = performance.now();
      // The protocol has already counted this one.
      if (Object.keys(subscriptions).length > limits.maxSubscriptionsPerConnection)
        return [apiError('RATE_LIMITED', 'Too many operations in progress on this socket')];
      const prepared = prepare(extra, id, payload);
      // The protocol keeps it with the subscription; the document has been parsed by now, or never will be.
      Object.assign(payload, { query: '' });
      return prepared;
    },
    execute: (args) => run(args, 'execute'),
    subscribe: (args) => run(args, 'subscribe'),
    onError: (_connection, _id, _payload, errors) => errors.map(presentError),
    onNext: (_connection, _id, _payload, _args, result) => presentResult(result as ExecutionResult),
  };
}

/**
 * `false` when the socket was closed: with 4403 and the reason why the token is rejected, or with 1013 if a retry may
 * succeed. A socket without a token would be useless, since it could not even subscribe.
 */
async function admit(
  { authenticate, rateLimits, core, connections, logger }: HttpContext,
  connection: Connection,
  params: ConnectionParams,
): Promise<boolean> {
  const { socket, stream } = connection;
  try {
    const identity = await authenticate(authorizationOf(params), (name) => textOf(params, name));
    if (identity === null) throw unauthenticated(NEEDS_TOKEN);
    // Closed meanwhile: what its closing undoes would stay.
    if (socket.readyState === socket.CLOSED) return false;
    connection.caller = { ...connection.caller, identity };
    const full = connections.hold(stream, connection.caller);
    if (full !== null) {
      socket.close(TRY_AGAIN_LATER, closeReason(full.message));
      return false;
    }
    endWithSession(socket, identity, core.sessionEnds);
    return true;
  } catch (error) {
    if (!(error instanceof FanfareError)) throw error;
    logTokenRefused(logger, { reason: error.message });
    const over = await countRequest(rateLimits, connection.caller);
    const isForLater = over !== null || error.code === 'UNAVAILABLE';
    socket.close(isForLater ? TRY_AGAIN_LATER : CloseCode.Forbidden, closeReason((over ?? error).message));
    return false;
  }
}

/** Document of an operation, which may be given by id; the protocol then requires an empty `query` as well. */
function documentFor(
  persisted: PersistedOperations | undefined,
  { query, extensions }: SubscribePayload,
  caller: Caller,
): string {
  const id = query === '' ? operationIdOf({ extensions }) : null;
  if (persisted === undefined) {
    if (id !== null) throw noOperationsById();
    return query;
  }
  if (id !== null) return persisted.find(id);
  persisted.check(query, caller);
  return query;
}

/** Keeps what ends when the socket or the operation does, unless it ends before. */
function kept(connection: Connection, id: string, room: Disposable): Disposable {
  const rooms = (connection.rooms ??= new Map<string, Disposable>());
  rooms.set(id, room);
  return new OnDispose(() => {
    // The id may be that of another operation by now.
    if (rooms.get(id) === room) rooms.delete(id);
    if (rooms.size === 0) connection.rooms = undefined;
    room[Symbol.dispose]();
  });
}

/** Nobody waits for the answers to operations that the client has completed. */
export function endCompleted({ rooms, operations }: Connection): void {
  if (rooms === undefined || operations === null) return;
  for (const [id, room] of rooms) if (!(id in operations)) room[Symbol.dispose]();
}

/** Returns an error to reject the operation with when there are too many. */
async function countRequest(
  rateLimits: RateLimits | undefined,
  caller: Caller,
): Promise<GraphQLError | null> {
  return rateLimits === undefined ? null : refusalFor(await rateLimits.countRequest(caller));
}

function endWithSession(socket: WebSocket, { userId, expiresAt }: Identity, sessionEnds: SessionEnds): void {
  const ended = sessionEnds.onEnd(userId, () => socket.close(CloseCode.Forbidden, 'The session was ended'));
  const expired =
    expiresAt === null
      ? null
      : callAt(expiresAt, () => socket.close(CloseCode.Forbidden, 'The token has expired'));
  socket.on('close', () => {
    ended[Symbol.dispose]();
    expired?.[Symbol.dispose]();
  });
}

/** Sends a result as it is written; the protocol would write it again. Like a stream that ends at once. */
async function* sent(
  result: WrittenResult,
  frames: SocketFrames,
): AsyncGenerator<ExecutionResult, void, void> {
  await frames.send(toByteText(result.stringify(presentResult(result))), true);
}

/** Omits fields for HTTP only. */
function presentError(error: GraphQLError): GraphQLFormattedError {
  const { extensions, ...rest } = error.toJSON();
  if (extensions === undefined) return rest;
  const { http: _http, ...shown } = extensions;
  return { ...rest, extensions: shown };
}

function presentResult({ errors, ...rest }: ExecutionResult): FormattedExecutionResult {
  return errors === undefined ? rest : { ...rest, errors: errors.map(presentError) };
}
