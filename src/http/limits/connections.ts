import { type IncomingMessage, type ServerResponse, createServer, type Server } from 'node:http';
import type { Socket, AddressInfo } from 'node:net';
import { Tally, SHARE_OF_USER, type HttpLimits } from './limits.ts';
import { logConnectionEnded } from '../../telemetry/events.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { holderOf, type Counted } from '../identity/auth.ts';
import { busy } from './request-lanes.ts';

export type ConnectionLimits = Pick<HttpLimits, 'maxConnections' | 'maxUnsentBytes' | 'sendTimeoutMs'>;

/** Looks at a connection that waits for its client, before it is ended. A process that was held looks only once. */
const LOOKS = 10;
/** How long a client may stand still when the server closes, in milliseconds. */
export const GOODBYE_MS = 1_000;

/** A TCP connection, from when it is accepted until it is closed, whatever is spoken on it. */
class Connection {
  readonly socket: Socket;
  /** Requests without a complete answer. */
  requests = 0;
  /** The last one. */
  request: IncomingMessage | null = null;
  isUpgraded = false;
  /** The caller for whom it is counted while it is in use. */
  holder: string | null = null;
  /** Bytes that the client has not taken. */
  unsent = 0;
  /** The bytes it had sent and received at the last look. */
  moved = 0;
  /** Looks since then. */
  still = 0;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  /** Whether a request, or the first part of one, has not arrived completely. */
  get isReceiving(): boolean {
    return this.requests === 0 || this.request?.complete === false;
  }
}

/**
 * Owns the connections of a server. None is kept for a client that does not read what it is sent; nobody can take all of
 * them; and all are closed with the server.
 *
 * - A connection without a request in progress gives way, the one that has waited longest first, when there is no place
 *   left for a new one.
 * - Once half of the places are taken, one user or address may use an eighth of them. Services and admins may use all.
 * - Bytes that clients have not taken are limited for each user and in total. Beyond it, the connection that has stood
 *   still longest is ended.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #logger: Logger;
  readonly #open = new Map<object, Connection>();
  /** Without a request in progress, the one that has waited longest first. */
  readonly #idle = new Set<Connection>();
  /** In progress. Those of later requests on the same connection, which Node never closes, are not among them. */
  readonly #answers = new Set<ServerResponse>();
  /** Connections in use, by holder. */
  readonly #used = new Tally();
  readonly #unsent = new Tally();
  #isClosing = false;
  #looks: NodeJS.Timeout;

  constructor(limits: ConnectionLimits, logger: Logger) {
    this.#limits = limits;
    this.#logger = logger;
    this.#looks = this.#lookWithin(limits.sendTimeoutMs);
  }

  get requests(): number {
    return this.#answers.size;
  }

  accept(socket: Socket): void {
    if (this.#open.size >= this.#limits.maxConnections) {
      const [idle] = this.#idle;
      if (idle === undefined) {
        socket.destroy();
        return;
      }
      this.#end(idle, 'Its place was needed');
    }
    const connection = new Connection(socket);
    this.#open.set(socket, connection);
    this.#idle.add(connection);
    socket.once('close', () => this.#remove(connection));
  }

  /** A request has arrived on it, perhaps without its body, and all earlier ones are answered. */
  begin(request: IncomingMessage, answer: ServerResponse): void {
    this.#answers.add(answer);
    const connection = this.#open.get(request.socket);
    if (connection !== undefined) {
      connection.requests += 1;
      connection.request = request;
      this.#idle.delete(connection);
    }
    answer.once('close', () => {
      this.#answers.delete(answer);
      if (connection === undefined || !this.#open.has(connection.socket)) return;
      connection.requests -= 1;
      if (connection.requests > 0) return;
      connection.request = null;
      this.#count(connection);
      this.#give(connection, null);
      this.#idle.add(connection);
    });
  }

  /** It is in use until it is closed, and its new owner closes it with the server. */
  upgrade(socket: object): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    connection.isUpgraded = true;
    this.#idle.delete(connection);
  }

  /** Says who uses it now. Returns an error to refuse them with when places are short and they have their share. */
  hold(socket: object, caller: Counted): Error | null {
    const connection = this.#open.get(socket);
    if (connection === undefined) return null;
    const holder = holderOf(caller);
    if (holder === connection.holder) return null;
    const { maxConnections } = this.#limits;
    const isShort = this.#open.size * 2 > maxConnections;
    if (isShort && holder !== null && this.#used.of(holder) >= maxConnections * SHARE_OF_USER)
      return busy(
        'RATE_LIMITED',
        `Too many connections of this ${caller.identity === null ? 'address' : 'user'}`,
      );
    this.#give(connection, holder);
    return null;
  }

  /** Counts what has been written to it and not been taken. */
  wrote(socket: object): void {
    const connection = this.#open.get(socket);
    if (connection !== undefined) this.#count(connection);
  }

  /** Ends those that nobody waits for. Clients that are sending or reading may go on, as long as something moves. */
  close(): void {
    this.#isClosing = true;
    for (const answer of this.#answers) if (!answer.headersSent) answer.setHeader('connection', 'close');
    // Node closes idle ones, but counts those without a first byte neither as idle nor as busy.
    for (const connection of this.#idle)
      if (connection.socket.bytesRead === 0) this.#end(connection, 'The server stops');
    clearInterval(this.#looks);
    this.#looks = this.#lookWithin(GOODBYE_MS);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#looks);
    for (const connection of this.#open.values()) this.#end(connection, 'The server has stopped');
  }

  #lookWithin(ms: number): NodeJS.Timeout {
    return setInterval(() => {
      for (const connection of this.#open.values()) this.#look(connection);
    }, ms / LOOKS).unref();
  }

  #look(connection: Connection): void {
    this.#count(connection);
    const { unsent, socket } = connection;
    const isReceiving = this.#isClosing && !connection.isUpgraded && connection.isReceiving;
    if (unsent === 0 && !isReceiving) {
      connection.still = 0;
      return;
    }
    const moved = sentBytes(socket) + (isReceiving ? socket.bytesRead : 0);
    connection.still = moved === connection.moved ? connection.still + 1 : 0;
    connection.moved = moved;
    if (connection.still >= LOOKS) this.#end(connection, 'Its client stands still');
  }

  #count(connection: Connection): void {
    const { holder, socket } = connection;
    const unsent = socket.writableLength;
    if (unsent === connection.unsent) return;
    const isMore = unsent > connection.unsent;
    this.#unsent.add(holder, unsent - connection.unsent);
    connection.unsent = unsent;
    if (!isMore) return;
    const { maxUnsentBytes } = this.#limits;
    if (holder !== null && this.#unsent.of(holder) > maxUnsentBytes * SHARE_OF_USER)
      this.#endSlowest((other) => other.holder === holder);
    if (this.#unsent.total > maxUnsentBytes) this.#endSlowest(() => true);
  }

  #endSlowest(isMeant: (connection: Connection) => boolean): void {
    let slowest: Connection | null = null;
    for (const other of this.#open.values())
      if (other.unsent > 0 && isMeant(other) && (slowest === null || isSlower(other, slowest)))
        slowest = other;
    if (slowest !== null) this.#end(slowest, 'Its client does not read');
  }

  #give(connection: Connection, holder: string | null): void {
    if (holder === connection.holder) return;
    if (connection.holder !== null) this.#used.add(connection.holder, -1);
    if (holder !== null) this.#used.add(holder, 1);
    this.#unsent.add(connection.holder, -connection.unsent);
    this.#unsent.add(holder, connection.unsent);
    connection.holder = holder;
  }

  #end(connection: Connection, reason: string): void {
    logConnectionEnded(this.#logger, { reason });
    this.#remove(connection);
    connection.socket.destroy();
  }

  #remove(connection: Connection): void {
    if (!this.#open.delete(connection.socket)) return;
    this.#idle.delete(connection);
    this.#give(connection, null);
    this.#unsent.add(null, -connection.unsent);
  }
}

function isSlower(one: Connection, other: Connection): boolean {
  return one.still === other.still ? one.unsent > other.unsent : one.still > other.still;
}

/** A field that Node has and does not show: `bytesWritten` counts what waits in the process, too. */
interface SocketHandle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

/** Bytes that the system has taken, also of a long write that is not complete. */
function sentBytes(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { readonly _handle?: SocketHandle | null };
  return handle == null ? 0 : handle.bytesWritten - handle.writeQueueSize;
}

/** Counts each user's open subscriptions in this process, and refuses those beyond the limit. */
export class SubscriptionQuota {
  readonly #limit: number;
  readonly #open = new Tally();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get total(): number {
    return this.#open.total;
  }

  /** Takes a place, returned by disposing. `null` when the user has none left. */
  take(userId: string): Disposable | null {
    if (this.#open.of(userId) >= this.#limit) return null;
    this.#open.add(userId, 1);
    return new Place(this, userId);
  }

  /** Called once for each place. */
  giveBack(userId: string): void {
    this.#open.add(userId, -1);
  }
}

class Place implements Disposable {
  readonly #userId: string;
  #quota: SubscriptionQuota | null;

  constructor(quota: SubscriptionQuota, userId: string) {
    this.#quota = quota;
    this.#userId = userId;
  }

  [Symbol.dispose](): void {
    this.#quota?.giveBack(this.#userId);
    this.#quota = null;
  }
}

export function createNodeServer(limits: HttpLimits, connections: Connections): Server {
  const server = createServer({
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveMs,
    // Interval at which Node checks for overdue requests; its default would extend the limit to half a minute.
    connectionsCheckingInterval: Math.min(limits.headersTimeoutMs, limits.requestTimeoutMs) / 2,
  });
  server.on('connection', (socket: Socket) => connections.accept(socket));
  return server;
}

/** Resolves with port and URL. Rejects when the address is not available. */
export function listen(
  server: Server,
  host: string,
  port: number,
): Promise<{ readonly port: number; readonly url: string }> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      const bound = (server.address() as AddressInfo).port;
      resolve({
        port: bound,
        url: `http://${host.includes(':') ? `[${host}]` : host}:${String(bound)}`,
      });
    });
  });
}
