import { setTimeout as delay } from 'node:timers/promises';
import { PostgresConnection, type PostgresAddress } from './connection.ts';
import { ConnectionLost, PoolTimeout, StatementError, Unreachable } from './errors.ts';

export interface PoolOptions {
  readonly address: PostgresAddress;
  /** Most connections at a time; they are opened when needed and kept. */
  readonly size: number;
  /** How long a command waits for a connection, in milliseconds. */
  readonly waitMs: number;
  /** How long a command waits for PostgreSQL to come (back) up, in milliseconds. */
  readonly reconnectMs: number;
  /** Server parameters for every session. */
  readonly settings: Readonly<Record<string, string>>;
}

interface Waiter {
  readonly resolve: (connection: PostgresConnection) => void;
  readonly reject: (error: Error) => void;
}

/** SQLSTATEs with which a server that is starting, stopping or full refuses a connection. */
const passing = new Set(['57P03', '57P01', '57P02', '53300']);

/**
 * Connections to PostgreSQL. One command has a connection for itself while it runs; commands beyond the size of the
 * pool wait in order. A connection that broke is dropped and replaced when the next command wants one.
 */
export class Pool {
  readonly #options: PoolOptions;
  readonly #idle: PostgresConnection[] = [];
  readonly #waiters: Waiter[] = [];
  readonly #all = new Set<PostgresConnection>();
  #open = 0;
  #isClosed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /**
   * Runs `work` with a connection of its own.
   * Rejects with PoolTimeout or Unreachable before `work` starts, else with what `work` rejects with.
   */
  async use<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    const connection = await this.#acquire();
    try {
      return await work(connection);
    } finally {
      this.#release(connection);
    }
  }

  /** Closes every connection; commands under way fail with ConnectionLost. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const waiter of this.#waiters.splice(0)) waiter.reject(new ConnectionLost('The gateway is closing'));
    await Promise.all([...this.#all].map((connection) => connection.close()));
  }

  async #acquire(): Promise<PostgresConnection> {
    if (this.#isClosed) throw new ConnectionLost('The gateway is closing');
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (idle.isAlive) return idle;
      this.#open -= 1;
    }
    if (this.#open < this.#options.size) return await this.#connect();
    return await this.#wait();
  }

  #wait(): Promise<PostgresConnection> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        resolve: (connection) => {
          clearTimeout(timer);
          resolve(connection);
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
      const timer = setTimeout(() => {
        const place = this.#waiters.indexOf(waiter);
        if (place >= 0) this.#waiters.splice(place, 1);
        reject(new PoolTimeout(`No connection became free within ${String(this.#options.waitMs)} ms`));
      }, this.#options.waitMs);
      this.#waiters.push(waiter);
    });
  }

  #release(connection: PostgresConnection): void {
    if (connection.isAlive && !this.#isClosed) {
      const waiter = this.#waiters.shift();
      if (waiter === undefined) this.#idle.push(connection);
      else waiter.resolve(connection);
      return;
    }
    this.#open -= 1;
    const waiter = this.#waiters.shift();
    if (waiter !== undefined) this.#connect().then(waiter.resolve, waiter.reject);
  }

  async #connect(): Promise<PostgresConnection> {
    this.#open += 1;
    try {
      const connection = await connectPatiently(this.#options);
      this.#all.add(connection);
      void connection.closed.then(() => this.#all.delete(connection));
      if (this.#isClosed) {
        await connection.close();
        throw new ConnectionLost('The gateway is closing');
      }
      return connection;
    } catch (error) {
      this.#open -= 1;
      // Who waits would wait for a connection that nobody is opening any more.
      const reason = error instanceof Error ? error : new Unreachable(String(error));
      for (const waiter of this.#waiters.splice(0)) waiter.reject(reason);
      throw error;
    }
  }
}

/** Tries again while PostgreSQL is away or starting, for `reconnectMs`. */
async function connectPatiently(options: PoolOptions): Promise<PostgresConnection> {
  const deadline = performance.now() + options.reconnectMs;
  for (let pause = 20; ; pause = Math.min(pause * 2, 500)) {
    try {
      return await PostgresConnection.connect(options.address, options.settings);
    } catch (error) {
      const isPassing =
        error instanceof StatementError ? passing.has(error.sqlstate) : error instanceof ConnectionLost;
      if (!isPassing || performance.now() + pause > deadline) {
        throw new Unreachable('PostgreSQL cannot be reached', { cause: error });
      }
    }
    await delay(pause);
  }
}
