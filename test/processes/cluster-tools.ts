import { isOfEntry } from '../../src/feed/watch/live-decisions.ts';
import { expect } from 'vitest';
import { openRedisParts, type RedisParts } from '../../src/connections/redis-parts.ts';
import { createRealtime, type Realtime } from '../../src/live/create-realtime.ts';
import type { LiveMessages } from '../../src/live/live-log.ts';
import { until } from '../support/valkey.ts';

/** What a process has of a cluster. */
export interface Process extends Realtime, AsyncDisposable {
  readonly redis: RedisParts;
}

export async function startProcess(url: string, prefix: string, windowMs: number): Promise<Process> {
  const redis = await openRedisParts({ url, prefix });
  const realtime = createRealtime(
    {
      ...{ windowMs, maxEvents: 1_000, maxBufferedEvents: 1_000 },
      ...{ maxSubscriptionsPerConnection: 1, maxSubscriptionsPerUser: 1 },
      endedAmong: () => Promise.resolve([]),
    },
    redis,
    () => undefined,
  );
  return {
    ...{ ...realtime, redis },
    async [Symbol.asyncDispose]() {
      await realtime.liveLog[Symbol.asyncDispose]();
      await realtime.workSignal[Symbol.asyncDispose]();
      await realtime.sessionEnds[Symbol.asyncDispose]();
      await redis.close();
    },
  };
}

const READERS = Array.from({ length: 40 }, (_, n) => `reader-${String(n)}`);
const event = (n: number) =>
  ({
    kind: 'added',
    actionId: n.toString(16).padStart(24, '0'),
    relevancy: new Date(n),
    reasons: ['FOLLOW'],
  }) as const;

/** The ids of the actions that a watcher hears of until the one given, and why it had to query again. */
async function heard(messages: LiveMessages, last: number): Promise<{ ids: string[]; resyncs: string[] }> {
  const ids: string[] = [];
  const resyncs: string[] = [];
  for await (const message of messages) {
    if (message.kind === 'resync') resyncs.push(message.reason);
    if (message.kind !== 'event' || !isOfEntry(message.event)) continue;
    ids.push(message.event.actionId);
    if (message.event.actionId === event(last).actionId) break;
  }
  return { ids, resyncs };
}

const LAST = 100_000;
const SOME = 20;

/** What a watcher has heard of what was written while something happened to the cluster. */
interface Heard {
  readonly userId: string;
  readonly isComplete: boolean;
  /** Why it was to query again. */
  readonly resyncs: readonly string[];
}

/**
 * What the watchers at one process hear of what another writes to each of them, before, during and after a change. Nobody misses
 * anything without a resync.
 * @param change is given what writes some more
 */
export async function hearThrough(
  { near, far }: { readonly near: Process; readonly far: Process },
  change: (write: () => Promise<void>) => Promise<void>,
): Promise<readonly Heard[]> {
  const leaving = new AbortController();
  const watches = await Promise.all(
    READERS.map((userId) => near.liveLog.watch({ userId, signal: AbortSignal.any([leaving.signal]) })),
  );
  const hearing = watches.map((messages) => heard(messages, LAST));
  const append = async (n: number): Promise<void> => {
    await far.liveLog.append(READERS.map((userId) => ({ userId, event: event(n) }))).catch(() => undefined);
  };
  let written = 0;
  const write = async (): Promise<void> => {
    for (let n = 0; n < SOME; n += 1) await append((written += 1));
  };
  await write();
  await change(write);
  await write();
  // The last one until everybody has heard it: what was sent before all connections were back leads to a resync.
  let done = 0;
  for (const one of hearing) void one.then(() => (done += 1));
  await until('everybody hears the last event', async () => {
    await append(LAST);
    return done === READERS.length;
  });
  leaving.abort();
  const all = Array.from({ length: written }, (_, n) => event(n + 1).actionId);
  return Promise.all(
    READERS.map(async (userId, index) => {
      const { ids = [], resyncs = [] } = (await hearing[index]) ?? {};
      const isComplete = all.every((id) => ids.includes(id));
      expect(isComplete || resyncs.length > 0).toBe(true);
      return { userId, isComplete, resyncs };
    }),
  );
}

/** Who has missed nothing and did not query again. */
export function undisturbed(all: readonly Heard[]): readonly string[] {
  return all.flatMap(({ userId, isComplete, resyncs }) =>
    isComplete && resyncs.length === 0 ? [userId] : [],
  );
}
