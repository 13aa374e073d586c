import { busyMs } from '../../../bench/harness/machine.ts';
import { cpuByKind } from '../../../bench/harness/process-usage.ts';

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
  const own = [...cpuByKind(new Map()).values()].reduce((sum, seconds) => sum + seconds, 0);
  return busyMs() / 1_000 - own;
}
