import { randomBytes } from 'node:crypto';
import type { UserId } from '../domain/action.ts';
import type { RedisClient, RedisConnections } from '../connections/redis.ts';
import type { Gaps } from './gap-ledger.ts';
import type { LogPosition } from './live-cursor.ts';
import { LiveLogUnavailable, type LiveAppend } from './live-log.ts';
import type { LiveLogLimits } from './live-options.ts';
import type { LogSnapshot } from './live-resume.ts';
import { watchedKey } from './redis-live-keys.ts';
import {
  APPEND_SCRIPT,
  FORGET_SCRIPT,
  GAP_SCRIPT,
  LEAVE_SCRIPT,
  OPEN_SCRIPT,
  RENEW_SCRIPT,
} from './redis-live-scripts.ts';
import { decodeRenewal, decodeSnapshot, encodeAppends } from './redis-live-wire.ts';

/** Readers or entries per script: a script must not block the server for long. */
const BATCH = 250;
/** Readers examined per step of a scan. */
const SCAN = 1_000;

/** The logs as stored in Redis. Every method rejects only with LiveLogUnavailable. */
export class RedisLiveStore {
  readonly #client: RedisClient;
  readonly #prefix: string;
  readonly #limits: LiveLogLimits;
  readonly #keys: readonly string[];

  constructor({ commands, isSharded }: RedisConnections, prefix: string, limits: LiveLogLimits) {
    this.#client = commands;
    // A cluster node refuses a script whose declared key is not in its slots; all other keys share the slot.
    this.#keys = isSharded ? [watchedKey(prefix)] : [];
    this.#prefix = prefix;
    this.#limits = limits;
  }

  async watched(userIds: readonly UserId[]): Promise<UserId[]> {
    if (userIds.length === 0) return [];
    const scores = await available(
      'look up watches',
      this.#client.zmscore(watchedKey(this.#prefix), [...userIds]),
    );
    return userIds.filter((_, index) => scores[index] !== null);
  }

  /** A member that is in the set during the whole scan is returned at least once. */
  async *allWatched(): AsyncGenerator<readonly UserId[], void, undefined> {
    let cursor = '0';
    do {
      const [next, found] = await available(
        'look through the watches',
        this.#client.zscan(watchedKey(this.#prefix), cursor, 'COUNT', SCAN),
      );
      cursor = next;
      // The reply alternates members and scores.
      const userIds = found.filter((_, index) => index % 2 === 0);
      if (userIds.length > 0) yield userIds;
    } while (cursor !== '0');
  }

  /** @param process name of the process to notify from now on; `null`: none. */
  open(userId: UserId, position: LogPosition | null, process: string | null): Promise<LogSnapshot> {
    const { generation, at, sequence } = position ?? { generation: '', at: 0, sequence: 0 };
    return this.#run(
      'open a log',
      OPEN_SCRIPT,
      [userId, generation, `${String(at)}-${String(sequence)}`, process ?? ''],
      decodeSnapshot,
    );
  }

  /** One result per reader, in order; `null` if the log was not kept. */
  async renew(userIds: readonly UserId[], process: string): Promise<ReturnType<typeof decodeRenewal>> {
    const renewals: ReturnType<typeof decodeRenewal> = [];
    for (const batch of batches(userIds))
      renewals.push(...(await this.#run('renew watches', RENEW_SCRIPT, [process, ...batch], decodeRenewal)));
    return renewals;
  }

  /** This process has no watchers of these readers any more. */
  async leave(userIds: readonly UserId[], process: string): Promise<void> {
    for (const batch of batches(userIds))
      await this.#run('leave logs', LEAVE_SCRIPT, [process, ...batch], () => undefined);
  }

  /** Returns the readers whose entries may not have been appended, with the error; `null` when all were. */
  async append(
    entries: readonly LiveAppend[],
  ): Promise<{ readonly lost: UserId[]; readonly error: unknown } | null> {
    const parts = batches(entries);
    // Sent concurrently: a single connection keeps their order.
    const results = await Promise.allSettled(
      parts.map((part) => this.#run('append', APPEND_SCRIPT, encodeAppends(part), () => undefined)),
    );
    const failure = results.find((result) => result.status === 'rejected');
    if (failure === undefined) return null;
    const lost = parts.flatMap((part, index) =>
      results[index]?.status === 'rejected' ? part.map(({ userId }) => userId) : [],
    );
    return { lost, error: failure.reason };
  }

  async markGaps(gaps: Gaps): Promise<void> {
    const parts = gaps === 'all' ? [[]] : batches([...gaps]);
    for (const part of parts) await this.#run('mark a gap', GAP_SCRIPT, part, () => undefined);
  }

  async forget(userId: UserId): Promise<void> {
    await this.#run('forget a log', FORGET_SCRIPT, [userId], () => undefined);
  }

  #run<T>(what: string, script: string, args: readonly string[], decode: (reply: unknown) => T): Promise<T> {
    const { keepMs, windowMs, logLength } = this.#limits;
    const nonce = randomBytes(4).toString('hex');
    // EVAL instead of EVALSHA: a second attempt after NOSCRIPT could overtake a later append.
    const keys = this.#keys;
    const limits = [keepMs, windowMs, logLength];
    const reply = this.#client.eval(script, keys.length, ...keys, this.#prefix, nonce, ...limits, ...args);
    return available(what, reply.then(decode));
  }
}

function batches<T>(items: readonly T[]): T[][] {
  const parts: T[][] = [];
  for (let start = 0; start < items.length; start += BATCH) parts.push(items.slice(start, start + BATCH));
  return parts;
}

async function available<T>(what: string, reply: Promise<T>): Promise<T> {
  try {
    return await reply;
  } catch (error) {
    throw asUnavailable(what, error);
  }
}

export function asUnavailable(what: string, error: unknown): LiveLogUnavailable {
  return error instanceof LiveLogUnavailable
    ? error
    : new LiveLogUnavailable(`Live log: could not ${what}`, error);
}
