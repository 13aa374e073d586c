import type { Db } from 'mongodb';
import { isOutOfSpace } from './errors.ts';
import { clock } from '../../lib/clock.ts';

const PROBES = 'writeProbes';
const PROBE_ID = 'write-probe';
const PROBE_WITHIN_MS = 1_000;
/** One probe serves all who ask within this time. */
const FRESH_MS = 1_000;
/** The database counts as full for so long after each write that it refused for lack of room. */
const FULL_FOR_MS = 5_000;

/**
 * Whether the database takes writes. A tiny write is tried; but a full database may still have room for a tiny one
 * where a real one fails, so a refusal that was noted counts for a while too. With clients that go on writing the
 * answer stays "no" until none of them is refused; without clients the probe alone brings back the "yes".
 */
export class WriteCheck {
  readonly #db: Pick<Db, 'command'>;
  readonly #now: () => number;
  #refusedAt = Number.NEGATIVE_INFINITY;
  #last: { readonly at: number; readonly outcome: Promise<void> } | null = null;

  constructor(db: Pick<Db, 'command'>, now: () => number = () => performance.now()) {
    this.#db = db;
    this.#now = now;
  }

  /** Takes any error of the database; only refusals for lack of room count. */
  note(error: unknown): void {
    if (isOutOfSpace(error)) this.#refusedAt = this.#now();
  }

  /** Rejects while writes fail, or when the database does not answer within a second. */
  async check(): Promise<void> {
    if (this.#now() - this.#refusedAt < FULL_FOR_MS)
      throw new Error('The database has refused a write for lack of room a moment ago');
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
      // As a command of its own: only those can be given up, which closes the connection they wait on.
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
