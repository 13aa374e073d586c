import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { CloseCode, GRAPHQL_TRANSPORT_WS_PROTOCOL, makeServer } from 'graphql-ws';
import { WebSocketServer, type WebSocket } from 'ws';
import { localeFor } from '../../descriptors/registry.ts';
import { logSocketTrouble } from '../../telemetry/events.ts';
import { closeReason, createSocketOperations, endCompleted, type Connection } from './socket-operations.ts';
import { GOODBYE_MS } from '../limits/connections.ts';
import { callAfter } from '../limits/deadline.ts';
import { type UnderWay, LARGE_BYTES, maxBodyOf } from '../limits/intake.ts';
import { SocketWriter } from '../exchange/socket-frames.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { toByteText } from '../../lib/byte-text.ts';
import { eachInTurns } from '../../lib/turn.ts';
import { JsonMeter } from '../../lib/json-meter.ts';
import type { HttpContext } from '../http-context.ts';
import type { YogaApp } from '../execution/yoga.ts';

const MESSAGE_TOO_BIG = 1009;
const TRY_AGAIN_LATER = 1013;
/** Extra bytes that may arrive with the largest message: its frame headers, and what follows it. */
const SLACK_BYTES = 64 * 1024;
/** Sizes of a client's frame header: up to 125 bytes, more than 125, and more than 65,535. */
const HEAD_BYTES = [6, 8, 14] as const;
/** How long a client may take to answer the close of its socket, in milliseconds; nothing more is read from it. */
const FAREWELL_MS = 1_000;

/**
 * Limits the messages of one socket by their sender, whereas ws has one limit for all. Closes the socket with 1009 for a
 * message that is too large, 4400 for one with too many values, 1013 when there is no room for it now.
 */
class SocketIntake {
  readonly #http: HttpContext;
  readonly #connection: Connection;
  /** Bytes of the incomplete message, including frame headers if it has several. */
  #pending = 0;
  /** Bytes of the last chunk. */
  #latest = 0;
  #underWay: UnderWay | null = null;
  #isRefused = false;

  constructor(http: HttpContext, connection: Connection) {
    this.#http = http;
    this.#connection = connection;
    const { socket, stream } = connection;
    // Runs before ws, which emits the messages in these bytes.
    stream.prependListener('data', (chunk: Buffer) => {
      this.#grow(chunk.length);
      // Each message has an answer, and each ping: a client that sends without reading is noticed here.
      http.connections.wrote(stream);
    });
    const onControl = (data: Buffer): void => {
      this.#pending = this.#without(data.length);
      this.#count();
    };
    socket.on('ping', onControl).on('pong', onControl);
    socket.on('close', () => this.#underWay?.[Symbol.dispose]());
  }

  /** Accounts for a complete message until disposed. `null`: rejected. */
  take(message: Buffer): UnderWay | null {
    if (this.#isRefused) return null;
    const { limits, intake } = this.#http;
    const { caller } = this.#connection;
    const underWay = (this.#underWay ??= intake.open(caller));
    if (!this.#hasRoom(message.length, maxBodyOf(caller, limits))) return null;
    const fault = new JsonMeter(limits.json).read(message);
    if (fault !== null) {
      this.#refuse(CloseCode.BadRequest, fault);
      return null;
    }
    this.#underWay = null;
    // The rest of the last chunk belongs to the next message.
    this.#pending = Math.min(this.#latest, this.#without(message.length));
    this.#count();
    return underWay;
  }

  /** Bytes of one or several messages have arrived. */
  #grow(bytes: number): void {
    if (this.#isRefused) return;
    this.#latest = bytes;
    this.#pending += bytes;
    this.#count();
  }

  /** Pending bytes without those of a complete frame. */
  #without(bytes: number): number {
    const head = HEAD_BYTES[bytes < 126 ? 0 : bytes < 65_536 ? 1 : 2];
    return Math.max(0, this.#pending - head - bytes);
  }

  #count(): void {
    if (this.#isRefused) return;
    if (this.#pending === 0) {
      this.#underWay?.[Symbol.dispose]();
      this.#underWay = null;
      return;
    }
    const { limits, intake } = this.#http;
    const { caller } = this.#connection;
    this.#underWay ??= intake.open(caller);
    this.#hasRoom(this.#pending, maxBodyOf(caller, limits) + SLACK_BYTES);
  }

  #hasRoom(bytes: number, maxBytes: number): boolean {
    if (bytes > maxBytes) this.#refuse(MESSAGE_TOO_BIG, 'The message is too large');
    else {
      const refusal = this.#underWay?.resize(bytes) ?? null;
      if (refusal !== null) this.#refuse(TRY_AGAIN_LATER, refusal.message);
    }
    return !this.#isRefused;
  }

  #refuse(code: number, reason: string): void {
    const { socket } = this.#connection;
    this.#isRefused = true;
    socket.close(code, reason);
    socket.pause();
    setTimeout(() => socket.terminate(), FAREWELL_MS).unref();
  }
}

/**
 * Passes on the messages of one socket in order. A large message gets a separate turn of the event loop, since reading it
 * has blocked the loop; later messages wait for it.
 */
export class MessageOrder {
  readonly #onError: (error: unknown) => void;
  #last: Promise<void> | null = null;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  add(isLarge: boolean, hand: () => void): void {
    if (!isLarge && this.#last === null) {
      hand();
      return;
    }
    const turn = this.#handLater(this.#last, hand).catch(this.#onError);
    this.#last = turn;
    void turn.then(() => {
      if (this.#last === turn) this.#last = null;
    });
  }

  async #handLater(before: Promise<void> | null, hand: () => void): Promise<void> {
    await before;
    await nextTurn();
    hand();
  }
}

const GOING_AWAY = 1001;
/** A timeout, as for `connection_init`: clients with another operation reconnect. */
const IDLE = CloseCode.ConnectionInitialisationTimeout;

/**
 * GraphQL over WebSocket with the protocol graphql-transport-ws. Close codes: 1001 the server stops; 1009 message too large;
 * 1013 tokens cannot be verified now, too many were rejected, no room for a message, or too many connections of the user; 4400 invalid
 * message; 4401 subscribed before `connection_ack`; 4403 no token, an invalid or expired one, or all sessions of the member were ended;
 * 4406 unsupported subprotocol; 4408 no `connection_init` in time, or no operation for long; 4409 duplicate id; 4429 second
 * `connection_init`.
 */
export class SocketServer {
  readonly #server: WebSocketServer;
  readonly #http: HttpContext;
  readonly #protocol: ReturnType<typeof makeServer<Record<string, unknown>, Connection>>;
  readonly #alive = new WeakSet<WebSocket>();
  readonly #connections = new WeakMap<WebSocket, Connection>();
  /** Ends of the operations of sockets that were closed. */
  #endings: (() => void)[] = [];
  /** `null`: the server closes. */
  #pings: NodeJS.Timeout | null;

  constructor(http: HttpContext, yoga: YogaApp) {
    const { limits } = http;
    this.#http = http;
    this.#server = new WebSocketServer({
      noServer: true,
      maxPayload: limits.maxBodyBytes,
      perMessageDeflate: false,
      handleProtocols: (offered) =>
        offered.has(GRAPHQL_TRANSPORT_WS_PROTOCOL) ? GRAPHQL_TRANSPORT_WS_PROTOCOL : false,
    });
    this.#protocol = makeServer({
      ...createSocketOperations(http, yoga),
      // A timer of its own for every socket would stay as long as the socket.
      connectionInitWaitTimeout: 0,
    });
    this.#pings = setTimeout(() => void this.#ping(), limits.pingMs).unref();
  }

  get size(): number {
    return this.#server.clients.size;
  }

  handleUpgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#server.handleUpgrade(req, socket, head, (webSocket) => this.#open(webSocket, req, socket));
  }

  #open(socket: WebSocket, request: IncomingMessage, stream: Duplex): void {
    const { logger, limits, addressOf } = this.#http;
    this.#alive.add(socket);
    socket.on('pong', () => this.#alive.add(socket));
    // ws closes the socket itself, with a suitable code.
    socket.on('error', (err) => logSocketTrouble(logger, { err }));
    const address = addressOf(request);
    const connection: Connection = {
      socket,
      stream,
      writer: new SocketWriter({ socket, stream }),
      caller: { identity: null, address, transport: 'websocket' },
      // Checks the current time instead of the header: a socket may be open for days.
      locale: localeFor(request.headers['accept-language']),
      operations: null,
      activeAt: performance.now(),
      initDeadline: callAfter(limits.connectionInitMs, () => {
        socket.close(CloseCode.ConnectionInitialisationTimeout, 'Connection initialisation timeout');
      }),
    };
    this.#connections.set(socket, connection);
    const messages = new SocketIntake(this.#http, connection);
    const closed = this.#protocol.opened(
      {
        protocol: socket.protocol,
        send: (data) => {
          const sending = connection.writer.write(toByteText(data), false);
          return sending === 'sent' ? undefined : sending;
        },
        close: (code, reason) => socket.close(code, reason),
        onMessage: (handle) => {
          const order = new MessageOrder((err) => this.#fail(socket, err));
          socket.on('message', (data: Buffer) => {
            const underWay = messages.take(data);
            if (underWay === null) return;
            const isLarge = data.length > LARGE_BYTES;
            order.add(isLarge, () => {
              this.#hand(connection, { underWay, isLarge }, () => handle(readMessage(data.toString())));
            });
          });
        },
      },
      connection,
    );
    socket.on('close', (code, reason) => {
      connection.initDeadline[Symbol.dispose]();
      for (const room of connection.rooms?.values() ?? []) room[Symbol.dispose]();
      const end = (): void => {
        closed(code, reason.toString()).catch((err: unknown) => this.#fail(socket, err));
      };
      if (this.#endings.push(end) === 1) void this.#endOperations();
    });
  }

  /** A method of its own: what waits for a subscription to end must not keep the bytes of its message. */
  #hand(
    connection: Connection,
    message: NonNullable<Connection['message']>,
    handle: () => Promise<void>,
  ): void {
    const { socket } = connection;
    // Operations of a socket closed meanwhile would never be ended.
    if (socket.readyState === socket.CLOSED) {
      message.underWay[Symbol.dispose]();
      return;
    }
    // For the operation that the message starts: it is processed before anything is awaited.
    connection.message = message;
    const handled = handle();
    connection.message = undefined;
    endCompleted(connection);
    this.#afterwards(handled, socket, message.underWay);
  }

  #afterwards(handled: Promise<void>, socket: WebSocket, underWay: Disposable): void {
    handled.then(
      () => underWay[Symbol.dispose](),
      (err: unknown) => {
        underWay[Symbol.dispose]();
        this.#fail(socket, err);
      },
    );
  }

  #fail(socket: WebSocket, err: unknown): void {
    this.#http.observer.presentError(err);
    socket.close(CloseCode.InternalServerError, 'Internal server error');
  }

  /** In turns: thousands may be dropped at once, and others wait for the event loop meanwhile. */
  async #endOperations(): Promise<void> {
    await nextTurn();
    await eachInTurns(this.#endings, (end) => end());
    this.#endings = [];
  }

  /** Each client has at least the time between two rounds to answer. */
  async #ping(): Promise<void> {
    await eachInTurns(this.#server.clients, (socket) => {
      if (!this.#alive.delete(socket)) socket.terminate();
      else if (this.#isIdle(socket)) socket.close(IDLE, closeReason(this.#idleReason));
      else socket.ping();
    });
    this.#pings?.refresh();
  }

  #isIdle(socket: WebSocket): boolean {
    const connection = this.#connections.get(socket);
    // Before `connection_init` another deadline applies.
    if (connection?.operations == null) return false;
    const now = performance.now();
    if (Object.keys(connection.operations).length > 0) connection.activeAt = now;
    return now - connection.activeAt > this.#http.limits.socketIdleMs;
  }

  get #idleReason(): string {
    return `No operation for ${String(this.#http.limits.socketIdleMs / 1_000)} s`;
  }

  async close(): Promise<void> {
    if (this.#pings !== null) clearTimeout(this.#pings);
    this.#pings = null;
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    for (const socket of this.#server.clients) socket.close(GOING_AWAY, 'Going away');
    const overdue = setTimeout(() => {
      for (const socket of this.#server.clients) socket.terminate();
    }, GOODBYE_MS);
    await closed;
    clearTimeout(overdue);
  }
}

/**
 * The message for the protocol, which keeps it as long as the operation runs: the message itself, without its text. A text
 * that cannot be read is given as it is, to be refused.
 */
function readMessage(text: string): string {
  try {
    const message: unknown = JSON.parse(text);
    // The protocol takes messages that have been read, too, but does not say so.
    return typeof message === 'string' ? text : (message as string);
  } catch {
    return text;
  }
}
