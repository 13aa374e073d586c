import type { DueKind, DueWorkRepository } from '../storage/due/due-work.ts';
import { clock } from '../lib/clock.ts';

/** How long a look counts for all who ask: the polls of a process begin at about the same time. */
const SHARED_MS = 50;

/**
 * One look at the database for the workers of a process that have no signal. A worker searches only if there is something to
 * find, so that an idle process sends one command instead of one or more for each worker.
 */
export class DueLooks {
  readonly #dueWork: DueWorkRepository;
  #last: { readonly at: number; readonly kinds: Promise<ReadonlySet<DueKind>> } | null = null;

  constructor(dueWork: DueWorkRepository) {
    this.#dueWork = dueWork;
  }

  /** Whether anything of this kind was due at most 50 ms ago. Rejects with errors of the database. */
  async isDue(kind: DueKind): Promise<boolean> {
    const now = performance.now();
    if (this.#last === null || now - this.#last.at >= SHARED_MS)
      this.#last = { at: now, kinds: this.#dueWork.kinds(clock.now()) };
    return (await this.#last.kinds).has(kind);
  }
}
