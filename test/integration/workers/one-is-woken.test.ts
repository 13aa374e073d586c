import { setImmediate } from 'node:timers/promises';
import { ObjectId } from 'mongodb';
import { describe, expect, inject, test } from 'vitest';
import { connectRedis, type RedisConnections } from '../../../src/connections/redis.ts';
import { Closer } from '../../../src/lib/closer.ts';
import { RedisWorkSignal, type WorkOffer, type WorkSignal } from '../../../src/live/work-signal.ts';
import type { FanOutWorkerOptions } from '../../../src/fan-out/fan-out-worker.ts';
import { eventually } from '../../conformance/live-log-tools.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { uniqueName } from '../../support/unique-name.ts';
import { startTcpProxy, through } from '../realtime/tcp-proxy.ts';

const url = inject('redisUrl');
/** No test waits for so long: whatever is found, is found because a worker was woken. */
const NEVER_MS = 600_000;

/** What a process has of Redis. */
interface Process {
  readonly redis: RedisConnections;
  readonly workSignal: WorkSignal;
}

/** A fan-out worker as in a process of its own, with the number of its searches. */
interface Worker extends Process {
  searches(): number;
}

/** Processes on one database and one Redis. */
class Installation implements AsyncDisposable {
  readonly parts: Parts;
  readonly #closer: Closer;
  readonly #prefix = `test:${uniqueName('wake')}:`;
  readonly #delivering = new Map<string, () => void>();

  private constructor(parts: Parts, closer: Closer) {
    this.parts = parts;
    this.#closer = closer;
  }

  static async open(): Promise<Installation> {
    const closer = new Closer();
    return new Installation(closer.own(await openParts()), closer);
  }

  /** @param patienceMs without it, a busy machine would have workers look that should have waited for the answer. */
  async process(redisUrl = url, patienceMs = NEVER_MS): Promise<Process> {
    const redis = this.#closer.own(await connectRedis({ url: redisUrl }));
    const signal = new RedisWorkSignal({ redis, prefix: this.#prefix, patienceMs });
    return { redis, workSignal: this.#closer.own(signal) };
  }

  /** @param options.holds its passes stop at their first chunk, see `delivering`, until `letGo`. */
  async worker({
    process,
    workSignal,
    holds = false,
    ...options
  }: Partial<FanOutWorkerOptions> & {
    readonly process?: Process;
    readonly workSignal?: (own: WorkSignal) => WorkSignal;
    readonly holds?: boolean;
  } = {}): Promise<Worker> {
    const { repositories, feedStore } = this.parts;
    const own = process ?? (await this.process());
    const workerId = uniqueName('worker');
    let searches = 0;
    let isIdle = false;
    const { fanOuts } = repositories;
    const claim: typeof fanOuts.claim = (...args) => {
      searches += 1;
      return fanOuts.claim(...args);
    };
    // The last that a search in vain asks for; an action published before that would be found without being announced.
    const nextDue: typeof fanOuts.nextDue = async (now) => {
      const due = await fanOuts.nextDue(now);
      isIdle = true;
      return due;
    };
    const deliver: typeof feedStore.deliver = async (chunks) => {
      if (holds)
        await Promise.all(
          chunks.map(
            ({ actionId }) => new Promise<void>((resolve) => this.#delivering.set(actionId, resolve)),
          ),
        );
      return feedStore.deliver(chunks);
    };
    const worker = this.parts.worker(
      { workerId, pollMs: NEVER_MS, ...options },
      {
        fanOuts: { ...fanOuts, claim, nextDue },
        feedStore: { ...feedStore, deliver },
        workSignal: workSignal?.(own.workSignal) ?? own.workSignal,
      },
    );
    this.#closer.own(worker);
    worker.start();
    await eventually('it has looked for the first time', () => isIdle);
    const one = { ...own, searches: () => searches };
    await this.settled([one]);
    return one;
  }

  /** Number of actions whose passes wait at their first chunk. */
  get delivering(): number {
    return this.#delivering.size;
  }

  letGo(): void {
    for (const resolve of this.#delivering.values()) resolve();
    this.#delivering.clear();
  }

  async publish(): Promise<string> {
    return (await this.parts.publish({ mentions: ['reader'] })).action.id;
  }

  async stateOf(id: string): Promise<string | undefined> {
    return (await this.parts.database.collections.actions.findOne({ _id: new ObjectId(id) }))?.fanOut.state;
  }

  async done(id: string): Promise<void> {
    await eventually('it is delivered', async () => (await this.stateOf(id)) === 'DONE');
  }

  /** All of them have heard what was announced before, and know who has taken it. */
  async settled(processes: readonly Process[]): Promise<void> {
    for (let n = 0; n < 3; n += 1)
      for (const { redis } of processes) {
        await redis.ping();
        await setImmediate();
      }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.letGo();
    return this.#closer.close();
  }
}

async function many<T>(count: number, open: () => Promise<T>): Promise<T[]> {
  const all: T[] = [];
  for (let n = 0; n < count; n += 1) all.push(await open());
  return all;
}

describe('of several workers', () => {
  test('one searches for a published action, and all others stay idle', async () => {
    await using installation = await Installation.open();
    const { workSignal } = await installation.process();
    const workers = await many(4, () => installation.worker());
    const searches = (): number => workers.reduce((sum, one) => sum + one.searches(), 0);
    const before = searches();
    for (let count = 1; count <= 5; count += 1) {
      const id = await installation.publish();
      workSignal.notify('fan-out');
      await installation.done(id);
      await installation.settled(workers);
      expect(searches() - before).toBe(count);
    }
  });

  test('two claim two actions concurrently', async () => {
    await using installation = await Installation.open();
    const publishers = await many(2, () => installation.process());
    await many(2, () => installation.worker({ holds: true, concurrency: 1 }));
    await Promise.all(
      publishers.map(async ({ workSignal }) => {
        await installation.publish();
        workSignal.notify('fan-out');
      }),
    );
    await eventually('both are delivered at the same time', () => installation.delivering === 2);
  });

  test('all take part in many actions that are announced as one', async () => {
    await using installation = await Installation.open();
    const { workSignal } = await installation.process();
    await many(4, () => installation.worker({ holds: true, concurrency: 1 }));
    await many(4, () => installation.publish());
    workSignal.notify('fan-out');
    await eventually('all are delivered at the same time', () => installation.delivering === 4);
  });

  test('one with a full lane leaves the action to another one', async () => {
    await using installation = await Installation.open();
    const { workSignal } = await installation.process();
    await installation.worker({ holds: true, concurrency: 1 });
    await installation.publish();
    workSignal.notify('fan-out');
    await eventually('the first one is at work', () => installation.delivering === 1);
    await many(2, () => installation.worker());
    const id = await installation.publish();
    workSignal.notify('fan-out');
    await installation.done(id);
  });

  test('one with a full lane still runs more urgent actions, at once', async () => {
    await using installation = await Installation.open();
    const { workSignal } = await installation.process();
    await installation.worker({ holds: true, concurrency: 1 });
    const { repositories, services, session } = installation.parts;
    const id = await installation.publish();
    workSignal.notify('fan-out');
    await eventually('the lane of live actions is full', () => installation.delivering === 1);
    const other = await installation.publish();
    await services.hideAction(session('admin', 'admin'), other, null);
    workSignal.notify('fan-out');
    await eventually('the hidden action is withdrawn', async () => {
      const [action] = await repositories.actions.findByIds([other]);
      return action?.fanOut.state === 'DONE';
    });
    expect(await installation.stateOf(id)).toBe('IN_PROGRESS');
  });

  test('the poll of another one finds work for which a killed one had been woken', async () => {
    await using installation = await Installation.open();
    const { workSignal } = await installation.process();
    const killed = await installation.process();
    const took = new Promise<boolean>((resolve) => {
      killed.workSignal.onWork('fan-out', (offer) => {
        void offer.take(false).then(resolve);
      });
    });
    const answers: boolean[] = [];
    const survivor = await installation.worker({
      pollMs: 300,
      // Asks after the one that is killed, so that it comes too late.
      workSignal: (own) => ({
        notify: (work) => {
          own.notify(work);
        },
        [Symbol.asyncDispose]: () => own[Symbol.asyncDispose](),
        onWork: (work, callback) =>
          own.onWork(work, (offer) => {
            callback({ take: async (isBusy) => (await took, noting(answers, offer, isBusy)) });
          }),
      }),
    });
    await installation.settled([survivor, killed]);
    const id = await installation.publish();
    workSignal.notify('fan-out');
    expect(await took).toBe(true);
    killed.redis.commands.disconnect();
    killed.redis.subscriber.disconnect();
    await installation.done(id);
    expect(answers).not.toContain(true);
  });

  test('one that is stopped passes the work to another one at once', async () => {
    await using installation = await Installation.open();
    const { workSignal } = await installation.process();
    const next = await installation.worker();
    const id = await installation.publish();
    const stopped = installation.parts.worker({ pollMs: NEVER_MS }, { workSignal });
    await stopped.stop();
    await installation.done(id);
    expect(next.searches()).toBeGreaterThan(1);
  });
});

async function noting(answers: boolean[], offer: WorkOffer, isBusy: boolean): Promise<boolean> {
  const answer = await offer.take(isBusy);
  answers.push(answer);
  return answer;
}

describe('without Redis', () => {
  test('the worker of the publishing process is woken, and others find the action by polling', async () => {
    await using installation = await Installation.open();
    await using proxy = await startTcpProxy(url);
    const process = await installation.process(through(url, proxy));
    await installation.worker({ process });
    proxy.cut();
    await eventually('the connection is gone', () => process.redis.commands.status !== 'ready');
    const id = await installation.publish();
    process.workSignal.notify('fan-out');
    await installation.done(id);
  });

  test('a worker does not wait for a Redis that does not respond', async () => {
    await using installation = await Installation.open();
    await using proxy = await startTcpProxy(url);
    const process = await installation.process(through(url, proxy), 250);
    await installation.worker({ process });
    proxy.freeze();
    const id = await installation.publish();
    process.workSignal.notify('fan-out');
    await installation.done(id);
  });

  test('every worker looks once when Redis is back', async () => {
    await using installation = await Installation.open();
    await using proxy = await startTcpProxy(url);
    const process = await installation.process(through(url, proxy));
    await installation.worker({ process });
    proxy.cut();
    await eventually('the connection is gone', () => process.redis.subscriber.status !== 'ready');
    const id = await installation.publish();
    expect(await installation.stateOf(id)).toBe('PENDING');
    proxy.heal();
    await installation.done(id);
  });
});
