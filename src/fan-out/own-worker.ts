import type { Claim } from './store/fan-out-claim.ts';
import type { NewClaim } from '../storage/documents/documents.ts';
import { OnDispose } from '../lib/closer.ts';

/** Room that a worker holds for what a write is about to claim for it. Disposing gives back what was not begun. */
export interface HeldRoom extends Disposable {
  readonly claim: NewClaim;
  /** Begins the passes of these claims, of the lane LIVE. At most once. */
  begin(claims: readonly [Claim, ...Claim[]]): void;
}

/** A worker that can take what this process writes. */
interface Worker {
  /** `null`: not now. */
  hold(): HeldRoom | null;
  /** Has it look for what becomes due then. */
  expect(due: Date): void;
}

/**
 * The worker of this process, if it has one. A write that makes an action due can claim it for this worker, which delivers it
 * at once: no wake-up, no search, no claim. If the process dies, the lease expires as that of any other claim.
 */
export class OwnWorker {
  readonly #workers = new Set<Worker>();

  /** Until disposed. */
  add(worker: Worker): Disposable {
    this.#workers.add(worker);
    return new OnDispose(() => void this.#workers.delete(worker));
  }

  /**
   * Writes what makes actions due.
   * @param write told by what to claim them; `null`: not, since no worker of this process has room. Resolves to what it has
   * claimed, none if the action was not due, or is somebody else's.
   */
  async claimBy<T extends { readonly claims: readonly Claim[] }>(
    write: (claim: NewClaim | null) => Promise<T>,
  ): Promise<T> {
    using room = this.#room();
    const written = await write(room?.claim ?? null);
    const [first, ...others] = written.claims;
    if (first !== undefined) room?.begin([first, ...others]);
    return written;
  }

  /** Has a worker look for what becomes due later, without waking others before. `false`: this process has none. */
  expect(due: Date): boolean {
    const [worker] = this.#workers;
    worker?.expect(due);
    return worker !== undefined;
  }

  #room(): HeldRoom | null {
    for (const worker of this.#workers) {
      const room = worker.hold();
      if (room !== null) return room;
    }
    return null;
  }
}
