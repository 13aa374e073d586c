import * as nodeCrypto from 'node:crypto';
import * as mongodb from 'mongodb';
import { EPOCH, type Machine, Timer } from './machine.ts';

/** What loaded modules see of the language and of Node: that of the machine on which they run now. */
export class Surroundings {
  #machine: Machine;

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  /** From now on they run on another one. */
  moveTo(machine: Machine): void {
    this.#machine = machine;
  }

  readonly globals: Readonly<Record<string, unknown>> = {
    setTimeout: (callback: Callback, ms?: unknown, ...given: unknown[]) =>
      this.#timer(() => callback(...given), ms, false),
    setInterval: (callback: Callback, ms?: unknown, ...given: unknown[]) =>
      this.#timer(() => callback(...given), ms, true),
    setImmediate: (callback: Callback, ...given: unknown[]) =>
      new Timer(this.#machine, () => callback(...given), 0, false),
    ...{ clearTimeout: clear, clearInterval: clear, clearImmediate: clear },
    Date: this.#date(),
    performance: this.#performance(),
    Math: Object.assign(Object.create(Math) as object, {
      random: () => this.#machine.scheduler.random.next(),
    }),
    crypto: { randomUUID: () => this.#machine.uuid() },
    AbortSignal: Object.assign(Object.create(AbortSignal) as object, {
      any: (signals: AbortSignal[]) => AbortSignal.any(signals),
      timeout: (ms: number) => {
        const controller = new AbortController();
        this.#machine.after(ms, () => controller.abort(new DOMException('Timed out', 'TimeoutError')));
        return controller.signal;
      },
    }),
  };

  readonly modules: Readonly<Record<string, unknown>> = {
    'timers/promises': {
      setTimeout: (ms?: number, value?: unknown, { signal }: { signal?: AbortSignal } = {}) =>
        new Promise((resolve, reject) => {
          const due = this.#machine.after(Math.max(1, ms ?? 1), () => resolve(value));
          signal?.addEventListener('abort', () => {
            due.cancel();
            reject(signal.reason as Error);
          });
        }),
      setImmediate: () => new Promise<void>((resolve) => void this.#machine.after(0, resolve)),
    },
    mongodb: { ...mongodb, ObjectId: this.#objectId() },
    crypto: {
      ...nodeCrypto,
      randomUUID: () => this.#machine.uuid(),
      randomBytes: (length: number) => this.#machine.bytes(length),
    },
  };

  #timer(run: () => void, ms: unknown, isRepeated: boolean): Timer {
    return new Timer(this.#machine, run, Math.max(1, Number(ms) || 1), isRepeated);
  }

  #performance(): { now(): number; readonly timeOrigin: number } {
    const now = (): number => this.#machine.uptime;
    const timeOrigin = (): number => EPOCH + this.#machine.scheduler.time - now();
    return {
      now,
      get timeOrigin() {
        return timeOrigin();
      },
    };
  }

  /** The driver's, which would ask the real clock. */
  #objectId(): typeof mongodb.ObjectId {
    const generate = (seconds?: number): Buffer => this.#machine.idBytes(seconds);
    return new Proxy(mongodb.ObjectId, {
      construct: (target, [given]: [mongodb.ObjectId | undefined]) => new target(given ?? generate()),
      get: (target, name) => (name === 'generate' ? generate : (Reflect.get(target, name) as unknown)),
    });
  }

  /** The language's own, but for what time it is. */
  #date(): DateConstructor {
    const now = (): number => this.#machine.wallTime;
    return new Proxy(Date, {
      construct: (target, given: unknown[]) =>
        given.length === 0 ? new target(now()) : (Reflect.construct(target, given) as Date),
      get: (target, name) => (name === 'now' ? now : (Reflect.get(target, name) as unknown)),
    });
  }
}

type Callback = (...given: unknown[]) => void;

function clear(one: unknown): void {
  if (one instanceof Timer) one.close();
}
