import type { Collection } from 'mongodb';
import { isOutOfSpace } from './errors.ts';
import { clock } from '../lib/clock.ts';

interface WriteProbeDocument {
  readonly _id: string;
  readonly at: Date;
}

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
  readonly #probes: Collection<WriteProbeDocument>;
  readonly #now: () => number;
  #refusedAt = Number.NEGATIVE_INFINITY;
  #last: { readonly at: number; readonly outcome: Promise<void> } | null = null;

  constructor(probes: Collection<WriteProbeDocument>, now: () => number = () => performance.now()) {
    this.#probes = probes;
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
    try {
      const change = { $set: { at: clock.now() } };
      await this.#probes.updateOne({ _id: PROBE_ID }, change, { upsert: true, timeoutMS: PROBE_WITHIN_MS });
    } catch (error) {
      this.note(error);
      throw error;
    }
  }
}
