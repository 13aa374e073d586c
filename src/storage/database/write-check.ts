import type { Db } from 'mongodb';
import { isOutOfSpace } from './errors.ts';
import { clock } from '../../lib/clock.ts';
import { ofInstallation } from '../documents/declaration.ts';

export const WRITE_PROBES = ofInstallation(
  'writeProbes',
  'the document written to test whether the database accepts writes',
);

const PROBES = 'writeProbes';
const PROBE_ID = 'write-probe';
const PROBE_WITHIN_MS = 1_000;
/** Callers within this time share one probe. With the time that one may take, less than two seconds. */
const FRESH_MS = 500;
/** After each write refused for lack of space, the database counts as full for this long. */
const FULL_FOR_MS = 5_000;

/**
 * Whether the database accepts writes, tested by a tiny write. A full database may still accept a tiny write while real ones
 * fail, so observed refusals count for a while too. While clients keep writing, the answer stays "no" until none of them is
 * refused; without clients, the probe alone restores the "yes".
 */
export class WriteCheck {
  readonly #db: Db;
  readonly #now: () => number;
  #refusedAt = Number.NEGATIVE_INFINITY;
  #last: { readonly at: number; readonly outcome: Promise<void> } | null = null;

  constructor(db: Db, now: () => number = () => performance.now()) {
    this.#db = db;
    this.#now = now;
  }

  /** Observes any database error; only refusals for lack of space count. */
  note(error: unknown): void {
    if (isOutOfSpace(error)) this.#refusedAt = this.#now();
  }

  /** Rejects while writes fail, or when the database does not answer within a second. */
  async check(): Promise<void> {
    if (this.#now() - this.#refusedAt < FULL_FOR_MS)
      throw new Error('The database recently rejected a write because its disk is full');
    if (this.#last === null || this.#now() - this.#last.at > FRESH_MS) {
      const outcome = this.#probe();
      outcome.catch(() => undefined);
      this.#last = { at: this.#now(), outcome };
    }
    await this.#last.outcome;
  }

  async #probe(): Promise<void> {
    const change = { $set: { at: clock.now() } };
    try {
      // Sent as a raw command, since only those can be aborted, which closes the connection they wait on.
      await this.#db.command(
        { findAndModify: PROBES, query: { _id: PROBE_ID }, update: change, upsert: true },
        { signal: AbortSignal.timeout(PROBE_WITHIN_MS) },
      );
    } catch (error) {
      this.note(error);
      throw error;
    }
  }
}
