import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  SharedDecisions,
  type DecisionListener,
  type EventMessage,
  type SharedFacts,
  type Watcher,
} from '../../../../src/feed/watch/shared-decisions.ts';
import { KeptProfile } from '../../../../src/feed/session/kept-profile.ts';
import { profileOfStranger } from '../../../../src/domain/viewer.ts';

const FACTS: SharedFacts = {
  reads: { stamps: {}, directory: () => Promise.resolve(null), actions: new Map(), names: [], feeds: [] },
};

function open(givesWay: boolean) {
  let reads = 0;
  const decisions = new SharedDecisions<SharedFacts>({
    read: () => {
      reads += 1;
      return Promise.resolve(FACTS);
    },
    openSession: () => {
      throw new Error('Nothing has to be read');
    },
    givesWay,
  });
  return { decisions, reads: () => reads };
}

const kept = new KeptProfile('reader');
kept.keep(profileOfStranger('reader'), {}, 0);
const WATCHER: Watcher<string, SharedFacts> = {
  identity: { userId: 'reader', roles: new Set(), expiresAt: null },
  rules: {
    atOnce: (_facts, _reader, messages) => messages.map(({ cursor }) => cursor),
    inSession: () => Promise.reject(new Error('Nothing has to be read')),
  },
  kept,
  isOwnLog: false,
};

/** Asks again for whatever is there whenever it was sent. */
class Listener implements DecisionListener<string> {
  readonly changes = 0;
  readonly sent: string[][] = [];
  #waiting: EventMessage[] = [];

  add(cursor: string): void {
    const event = { kind: 'added', actionId: '', relevancy: new Date(0), reasons: [] } as const;
    this.#waiting.push({ kind: 'event', cursor, event });
  }

  take(): readonly EventMessage[] {
    return this.#waiting.splice(0);
  }

  decided(events: readonly (string | null)[]): void {
    this.sent.push(events.filter((event) => event !== null));
  }

  failed(error: unknown): void {
    throw error;
  }
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
};

test('of a list with very many watchers, what follows waits a moment and is sent together; others do not wait', async () => {
  const { decisions, reads } = open(true);
  const crowd = Array.from({ length: 2_000 }, () => new Listener());
  const say = (cursor: string, to: readonly Listener[]): void => {
    for (const listener of to) {
      listener.add(cursor);
      decisions.decide(WATCHER, listener);
    }
  };
  say('first', crowd);
  await turns();
  expect(crowd.every(({ sent }) => sent.length === 1)).toBe(true);
  say('second', crowd);
  await turns();
  for (const listener of crowd) listener.add('third');
  const other = new Listener();
  say('at once', [other]);
  await turns();
  expect([reads(), crowd[0]?.sent, other.sent]).toEqual([2, [['first']], [['at once']]]);
  await vi.advanceTimersByTimeAsync(249);
  await turns();
  expect(crowd.some(({ sent }) => sent.length > 1)).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await turns();
  expect(reads()).toBe(3);
  for (const { sent } of crowd) expect(sent).toEqual([['first'], ['second', 'third']]);
});

test('watchers of lists of few wait for less, and those of feeds for nothing', async () => {
  for (const [givesWay, ms] of [
    [true, 1],
    [false, 0],
  ] as const) {
    const { decisions } = open(givesWay);
    const listener = new Listener();
    for (const cursor of ['first', 'second']) {
      listener.add(cursor);
      decisions.decide(WATCHER, listener);
      await turns();
    }
    await vi.advanceTimersByTimeAsync(ms);
    await turns();
    expect(listener.sent).toEqual([['first'], ['second']]);
  }
});
