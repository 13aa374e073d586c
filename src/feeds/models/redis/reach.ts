import { StoreUnavailable } from '../../../storage/database/errors.ts';

/** How long a read waits for its answer, in milliseconds. */
const PATIENCE_MS = 1_000;
/** For so long after an answer that did not come, reads are refused without being sent. */
const PAUSE_MS = 1_000;

/** Error codes of a server that refuses every command, whatever it is asked. */
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

/** Commands to a Redis that may be away. Rejects with StoreUnavailable where it is, with what the server says else. */
export interface RedisReach {
  /** Waits for as long as the client does. */
  write<T>(send: () => Promise<T>): Promise<T>;
  /**
   * For who can do without: waits for a second at the most, and not at all while Redis is known to be away. A connection
   * that is lost refuses on its own; of one that is silent only one read at a time finds out whether it still is.
   */
  read<T>(send: () => Promise<T>): Promise<T>;
}

export function redisReach(patienceMs: number = PATIENCE_MS): RedisReach {
  /** Until when nothing is read, by the local clock; null: the last answer came. */
  let silentUntil: number | null = null;

  async function write<T>(send: () => Promise<T>): Promise<T> {
    try {
      const answer = await send();
      silentUntil = null;
      return answer;
    } catch (error) {
      throw isAway(error) ? new StoreUnavailable('The store of the feeds cannot be reached', error) : error;
    }
  }

  async function read<T>(send: () => Promise<T>): Promise<T> {
    const now = performance.now();
    if (silentUntil !== null) {
      if (now < silentUntil) throw new StoreUnavailable('The store of the feeds did not answer a moment ago');
      silentUntil = now + patienceMs;
    }
    let isOver = false;
    let giveUp: NodeJS.Timeout | undefined;
    const silence = new Promise<never>((_, reject) => {
      giveUp = setTimeout(() => {
        // Where it was this process that took so long, the answer lies in the socket and comes first.
        setImmediate(() => {
          if (isOver) return;
          silentUntil = performance.now() + PAUSE_MS;
          reject(new StoreUnavailable('The store of the feeds does not answer'));
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

/** A server that answers is there, unless it says that it takes nothing. Without an answer it cannot be reached. */
function isAway(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== 'ReplyError') return true;
  return NOT_NOW.has(error.message.split(' ', 1)[0] ?? '');
}
