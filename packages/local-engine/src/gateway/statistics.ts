import { tableOf } from './collection-table.ts';
import type { Engine } from './engine.ts';

interface Growth {
  /** Documents written since the planner last looked. */
  written: number;
  /** So many more are worth another look. */
  step: number;
}

const firstLook = 200;

/**
 * Keeps PostgreSQL's planner informed. Without statistics it takes fresh collections for tiny ones and sorts what it
 * could read in the order of an index; autovacuum would tell it only after a while. So a collection is analysed in
 * the background each time it has doubled, one at a time: a handful of times in its life.
 */
export class Statistics {
  readonly #engine: Engine;
  readonly #growth = new Map<string, Growth>();
  #queue: Promise<void> = Promise.resolve();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Takes note of documents that were inserted or changed. */
  noteWritten(db: string, collection: string, count: number): void {
    const key = JSON.stringify([db, collection]);
    const growth = this.#growth.get(key) ?? { written: 0, step: firstLook };
    growth.written += count;
    if (growth.written >= growth.step) {
      growth.step = Math.max(growth.step, growth.written) * 2;
      growth.written = 0;
      // Nothing depends on it: what fails here autovacuum makes up for.
      void this.refresh(db, collection).catch(() => undefined);
    }
    this.#growth.set(key, growth);
  }

  /** Analyses a collection after those already asked for. Rejects with what the engine rejects with. */
  refresh(db: string, collection: string): Promise<void> {
    const run = this.#queue.then(() => this.#analyse(db, collection));
    this.#queue = run.catch(() => undefined);
    return run;
  }

  async #analyse(db: string, collection: string): Promise<void> {
    const table = await tableOf(this.#engine, db, collection);
    if (table === undefined) return;
    await this.#engine.rows({ sql: `ANALYZE ${table}`, parameters: [], isOneOff: true });
  }
}
