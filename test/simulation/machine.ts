import type { Scheduler } from './scheduler.ts';

/** When simulations begin. */
export const EPOCH = Date.UTC(2026, 0, 5, 9);

/** A process's time and chance. It ends with the process. */
export class Machine {
  readonly name: string;
  readonly scheduler: Scheduler;
  /** Milliseconds by which its wall clock is ahead. */
  aheadMs: number;
  readonly #startedAt: number;
  readonly #unique: string;
  #count: number;
  #isDead = false;
  #frozenUntil = 0;
  readonly #mourners = new Set<() => void>();

  constructor(scheduler: Scheduler, name: string, aheadMs = 0) {
    this.scheduler = scheduler;
    this.name = name;
    this.aheadMs = aheadMs;
    this.#startedAt = scheduler.time;
    this.#unique = this.bytes(5).toString('hex');
    this.#count = scheduler.random.below(0x1000000);
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Nothing that it waits for ever comes. */
  die(): void {
    if (this.#isDead) return;
    this.#isDead = true;
    for (const mourner of [...this.#mourners]) mourner();
  }

  /** For so many milliseconds it does nothing, and does not know. */
  freeze(forMs: number): void {
    this.#frozenUntil = Math.max(this.#frozenUntil, this.scheduler.time + forMs);
  }

  onDeath(mourner: () => void): () => void {
    this.#mourners.add(mourner);
    return () => void this.#mourners.delete(mourner);
  }

  /** Calls back after so many milliseconds, if it lives then. */
  after(ms: number, run: () => void): { cancel(): void } {
    let due = this.scheduler.after(ms, () => {
      if (this.#isDead) return;
      const frozenMs = this.#frozenUntil - this.scheduler.time;
      if (frozenMs > 0) due = this.after(frozenMs, run);
      else run();
    });
    return { cancel: () => due.cancel() };
  }

  /** Milliseconds since it was started. */
  get uptime(): number {
    return this.scheduler.time - this.#startedAt;
  }

  get wallTime(): number {
    return Math.floor(EPOCH + this.scheduler.time + this.aheadMs);
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.scheduler.random.below(256)));
  }

  uuid(): string {
    const hex = this.bytes(16).toString('hex');
    return [
      hex.slice(0, 8),
      hex.slice(8, 12),
      `4${hex.slice(13, 16)}`,
      `8${hex.slice(17, 20)}`,
      hex.slice(20),
    ].join('-');
  }

  /** As the driver makes it: the second, the process, and a number that rises. */
  idBytes(seconds = Math.floor(this.wallTime / 1_000)): Buffer {
    this.#count = (this.#count + 1) % 0x1000000;
    const hex = [
      seconds.toString(16).padStart(8, '0'),
      this.#unique,
      this.#count.toString(16).padStart(6, '0'),
    ];
    return Buffer.from(hex.join(''), 'hex');
  }
}

/** As Node's: an object that can be told to keep no process alive. */
export class Timer {
  readonly #machine: Machine;
  readonly #run: () => void;
  readonly #ms: number;
  readonly #isRepeated: boolean;
  #due: { cancel(): void };

  constructor(machine: Machine, run: () => void, ms: number, isRepeated: boolean) {
    this.#machine = machine;
    this.#run = run;
    this.#ms = ms;
    this.#isRepeated = isRepeated;
    this.#due = this.#begin();
  }

  #begin(): { cancel(): void } {
    return this.#machine.after(this.#ms, () => {
      if (this.#isRepeated) this.#due = this.#begin();
      this.#run();
    });
  }

  close(): void {
    this.#due.cancel();
  }

  refresh(): this {
    this.#due.cancel();
    this.#due = this.#begin();
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
