import { busyMs } from './machine.ts';
import { descendantsOf } from './process-usage.ts';

/** Cores used by processes other than this benchmark and its own: figures measured beside such work mean little. */
export class OthersAtWork {
  readonly #startedAt = performance.now();
  readonly #from = otherSeconds();

  cores(): number {
    return Math.max(0, ((otherSeconds() - this.#from) * 1_000) / (performance.now() - this.#startedAt));
  }
}

/** CPU that is not of this benchmark, nor of anything it has started. */
function otherSeconds(): number {
  const own = descendantsOf(new Map()).reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
  return busyMs() / 1_000 - own;
}
