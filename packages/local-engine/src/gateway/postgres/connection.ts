import { createConnection, type Socket } from 'node:net';
import { ConnectionLost, StatementError } from './errors.ts';
import { MessageReader } from './message-reader.ts';
import {
  cancelMessage,
  executeMessages,
  parseMessage,
  readReport,
  readRow,
  saslMessage,
  startupMessage,
  terminateMessage,
  type Parameter,
  type Row,
} from './messages.ts';
import { startScram, type ScramExchange } from './scram.ts';

/** Where PostgreSQL listens. */
export interface PostgresAddress {
  /** The folder of its Unix socket, whose name contains the port. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  /** Only a server that proves that it knows the password, too, is spoken to. Absent: it has to ask for none. */
  readonly password?: string;
}

interface Pending {
  readonly rows: Row[];
  /** The statement that is parsed by this very request, until the server has confirmed it. */
  parses: string | undefined;
  error: StatementError | undefined;
  readonly resolve: (rows: Row[]) => void;
  readonly reject: (error: Error) => void;
}

const type = {
  authentication: 0x52,
  backendKey: 0x4b,
  parseComplete: 0x31,
  row: 0x44,
  error: 0x45,
  ready: 0x5a,
} as const;

const connectWithinMs = 10_000;
const closeWithinMs = 2_000;

const authentication = { ok: 0, sasl: 10, saslContinue: 11, saslFinal: 12 } as const;
const scramMechanism = 'SCRAM-SHA-256';

/**
 * One connection with the extended protocol: named prepared statements, binary results, and as many statements in
 * flight as wanted; each ends with its own Sync, so one that fails does not touch its neighbours. It authenticates
 * by SCRAM-SHA-256 or, without a password, by trust; a password is never sent.
 */
export class PostgresConnection {
  /** Settles when the connection has ended, for whatever reason. */
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  readonly #address: PostgresAddress;
  readonly #pending: Pending[] = [];
  readonly #prepared = new Map<string, string>();
  #head = 0;
  #names = 0;
  #lost: Error | undefined;
  #started: { resolve: () => void; reject: (error: Error) => void } | undefined;
  #processId = 0;
  #secretKey = Buffer.alloc(0);
  #scram: ScramExchange | undefined;
  #isProven = false;

  private constructor(
    address: PostgresAddress,
    started: { resolve: () => void; reject: (error: Error) => void },
  ) {
    this.#address = address;
    this.#started = started;
    this.#socket = open(address);
    this.#socket.setTimeout(connectWithinMs, () => {
      this.destroy();
    });
    const reader = new MessageReader((kind, body) => {
      this.#receive(kind, body);
    });
    this.#socket.on('data', (chunk: Buffer) => {
      reader.push(chunk);
    });
    this.#socket.on('error', (error) => {
      this.#fail(
        new ConnectionLost(`The connection to PostgreSQL failed: ${error.message}`, { cause: error }),
      );
    });
    this.closed = new Promise((resolve) => {
      this.#socket.on('close', () => {
        this.#fail(new ConnectionLost('PostgreSQL closed the connection'));
        resolve();
      });
    });
  }

  /**
   * Connects and sets `settings` (server parameters) for the session.
   * Rejects with StatementError when the server refuses, with ConnectionLost when it cannot be reached.
   */
  static async connect(
    address: PostgresAddress,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<PostgresConnection> {
    let connection: PostgresConnection | undefined;
    await new Promise<void>((resolve, reject) => {
      connection = new PostgresConnection(address, { resolve, reject });
      const { user, database } = address;
      connection.#socket.write(startupMessage({ user, database, ...settings }));
    }).catch((error: unknown) => {
      connection?.destroy();
      throw error;
    });
    if (connection === undefined) throw new ConnectionLost('No connection was made');
    return connection;
  }

  /** False once the connection has failed or was closed. */
  get isAlive(): boolean {
    return this.#lost === undefined;
  }

  /**
   * Runs one statement. Equal `sql` is parsed once per connection and kept, so texts must be few; `isOneOff` is for
   * texts that name something.
   * Rejects with StatementError (the statement was rolled back) or ConnectionLost (its effect is unknown).
   */
  execute(sql: string, parameters: readonly Parameter[], isOneOff = false): Promise<Row[]> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost);
    const known = isOneOff ? undefined : this.#prepared.get(sql);
    const name = known ?? (isOneOff ? '' : `s${String(this.#names)}`);
    const messages = executeMessages(name, parameters);
    if (known === undefined) messages.unshift(parseMessage(name, sql));
    if (known === undefined && !isOneOff) {
      this.#names += 1;
      this.#prepared.set(sql, name);
    }
    return new Promise((resolve, reject) => {
      const parses = known === undefined && !isOneOff ? sql : undefined;
      this.#pending.push({ rows: [], parses, error: undefined, resolve, reject });
      this.#socket.cork();
      for (const message of messages) this.#socket.write(message);
      this.#socket.uncork();
    });
  }

  /** Asks the server to abort the statement that runs now. Resolves when the request was taken, effect or not. */
  async cancel(): Promise<void> {
    await new Promise<void>((resolve) => {
      const socket = open(this.#address);
      socket.on('error', () => {
        socket.destroy();
      });
      socket.on('close', () => {
        resolve();
      });
      socket.resume();
      socket.end(cancelMessage(this.#processId, this.#secretKey));
    });
  }

  /** Ends the session; a statement under way is cancelled, because the server would finish it first. Idempotent. */
  async close(): Promise<void> {
    const isBusy = this.#pending.length > 0;
    if (this.isAlive) this.#socket.end(terminateMessage());
    this.#fail(new ConnectionLost('The connection was closed'));
    this.#socket.setTimeout(closeWithinMs, () => {
      this.destroy();
    });
    if (isBusy) await this.cancel();
    await this.closed;
  }

  /** Drops the connection at once. */
  destroy(): void {
    this.#socket.destroy();
  }

  #receive(kind: number, body: Buffer): void {
    if (this.#started !== undefined) {
      this.#receiveAtStart(kind, body);
      return;
    }
    const current = this.#pending[this.#head];
    if (current === undefined) return;
    if (kind === type.row) {
      current.rows.push(readRow(body));
    } else if (kind === type.parseComplete) {
      current.parses = undefined;
    } else if (kind === type.error) {
      current.error = new StatementError(readReport(body));
    } else if (kind === type.ready) {
      this.#shift();
      if (current.parses !== undefined) this.#prepared.delete(current.parses);
      if (current.error === undefined) current.resolve(current.rows);
      else current.reject(current.error);
    }
  }

  #shift(): void {
    this.#head += 1;
    if (this.#head === this.#pending.length) {
      this.#pending.length = 0;
      this.#head = 0;
    }
  }

  #receiveAtStart(kind: number, body: Buffer): void {
    if (kind === type.authentication) {
      this.#authenticate(body.readInt32BE(0), body.subarray(4));
    } else if (kind === type.backendKey) {
      this.#processId = body.readInt32BE(0);
      this.#secretKey = Buffer.from(body.subarray(4));
    } else if (kind === type.error) {
      this.#fail(new StatementError(readReport(body)));
      this.#socket.destroy();
    } else if (kind === type.ready) {
      this.#socket.setTimeout(0);
      this.#started?.resolve();
      this.#started = undefined;
    }
  }

  #authenticate(step: number, data: Buffer): void {
    try {
      if (step === authentication.sasl && data.includes(scramMechanism)) {
        if (this.#address.password === undefined)
          throw new Error('PostgreSQL asks for a password and there is none');
        this.#scram = startScram(this.#address.password);
        this.#socket.write(saslMessage(this.#scram.firstMessage, scramMechanism));
      } else if (step === authentication.saslContinue && this.#scram !== undefined) {
        this.#socket.write(saslMessage(this.#scram.prove(data)));
      } else if (step === authentication.saslFinal && this.#scram !== undefined) {
        this.#scram.verify(data);
        this.#isProven = true;
      } else if (step === authentication.ok) {
        if (this.#address.password !== undefined && !this.#isProven)
          throw new Error('PostgreSQL did not prove that it knows the password');
      } else {
        throw new Error(`PostgreSQL asks for an authentication (${String(step)}) the gateway does not know`);
      }
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
      this.#socket.destroy();
    }
  }

  #fail(error: Error): void {
    if (this.#lost !== undefined) return;
    this.#lost = error;
    this.#started?.reject(error);
    this.#started = undefined;
    const waiting = this.#pending.splice(this.#head);
    this.#pending.length = 0;
    this.#head = 0;
    for (const pending of waiting) pending.reject(error);
  }
}

function open({ host, port }: PostgresAddress): Socket {
  return createConnection({ path: `${host}/.s.PGSQL.${String(port)}` });
}
