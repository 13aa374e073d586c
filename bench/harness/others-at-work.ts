import { busyMs } from './machine.ts';
import { descendantsOf } from './process-usage.ts';

/** Cores used by processes other than this benchmark and its own: figures measured beside such work mean little. */
export class OthersAtWork {
  readonly #startedAt = performance.now();
  #busyMs = busyMs();
  #own = ownSeconds();
  #others = 0;

  /** Must also be called right before a process ends: its usage is unknown afterwards. */
  look(): void {
    const [busy, own] = [busyMs(), ownSeconds()];
    const used = [...own].reduce((sum, [pid, seconds]) => sum + seconds - (this.#own.get(pid) ?? 0), 0);
    this.#others += (busy - this.#busyMs) / 1_000 - used;
    this.#busyMs = busy;
    this.#own = own;
  }

  cores(): number {
    this.look();
    return Math.max(0, (this.#others * 1_000) / (performance.now() - this.#startedAt));
  }
}

function ownSeconds(): ReadonlyMap<number, number> {
  return new Map(descendantsOf(new Map()).map(({ pid, cpuSeconds }) => [pid, cpuSeconds]));
}
