import { StoreUnavailable } from '../../../../src/storage/database/errors.ts';

/** Timeout of a read, in milliseconds. */
const PATIENCE_MS = 1_000;
/** After a timeout, reads are refused without being sent for this long. */
const PAUSE_MS = 1_000;

/** Error codes of a server that currently refuses all commands. */
const NOT_NOW = new Set([
  'BUSY',
  'CLUSTERDOWN',
  'LOADING',
  'MASTERDOWN',
  'MISCONF',
  'MOVED',
  'NOREPLICAS',
  'OOM',
  'READONLY',
  'TRYAGAIN',
]);

/** Commands to a Redis that may be away: rejects with StoreUnavailable then, otherwise with the server's error. */
export interface RedisReach {
  /** Waits as long as the client does. */
  write<T>(send: () => Promise<T>): Promise<T>;
  /**
   * For callers with a fallback: waits for at most a second, and not at all while Redis is known to be away. A lost
   * connection refuses on its own; with a silent one, a single read at a time tests whether it answers again.
   */
  read<T>(send: () => Promise<T>): Promise<T>;
}

export function redisReach(patienceMs: number = PATIENCE_MS): RedisReach {
  /** No reads until this time, by the local clock; `null`: the last command was answered. */
  let silentUntil: number | null = null;

  async function write<T>(send: () => Promise<T>): Promise<T> {
    try {
      const answer = await send();
      silentUntil = null;
      return answer;
    } catch (error) {
      throw isAway(error) ? new StoreUnavailable('The feed store cannot be reached', error) : error;
    }
  }

  async function read<T>(send: () => Promise<T>): Promise<T> {
    const now = performance.now();
    if (silentUntil !== null) {
      if (now < silentUntil) throw new StoreUnavailable('The feed store did not answer a moment ago');
      silentUntil = now + patienceMs;
    }
    let isOver = false;
    let giveUp: NodeJS.Timeout | undefined;
    const silence = new Promise<never>((_, reject) => {
      giveUp = setTimeout(() => {
        // If this process was the slow one, the answer is waiting in the socket and is handled first.
        setImmediate(() => {
          if (isOver) return;
          silentUntil = performance.now() + PAUSE_MS;
          reject(new StoreUnavailable('The feed store does not answer'));
        });
      }, patienceMs);
    });
    try {
      return await Promise.race([write(send), silence]);
    } finally {
      isOver = true;
      clearTimeout(giveUp);
    }
  }

  return { write, read };
}

/** A server that answers is available, unless it refuses every command. Without an answer it is away. */
function isAway(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== 'ReplyError') return true;
  return NOT_NOW.has(error.message.split(' ', 1)[0] ?? '');
}
