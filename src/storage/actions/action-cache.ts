import { LRUCache } from 'lru-cache';
import type { Action, ActionId } from '../../domain/action.ts';
import { weightOfEntry } from '../../lib/weight.ts';
import type { ActionsRepository } from './actions.ts';

declare module '../repositories.ts' {
  interface Repositories {
    readonly actionCache: ActionCache;
  }
}

/** The reads behind the cache. */
type CachedReads = Pick<ActionsRepository, 'findByIds' | 'findUnlessCached'>;

/**
 * Decoded actions of one process. A cached action is used only if a read that began after the request confirms its revision:
 * the cache saves transferring and decoding actions, but never skips the query. Results are up to date, except for `fanOut`,
 * which may be older.
 */
export class ActionCache {
  readonly #actions: CachedReads;
  readonly #cached: LRUCache<ActionId, Action> | null;
  #hits = 0;
  #misses = 0;

  /** @param maxBytes upper bound on the memory of cached actions; 0 disables the cache. */
  constructor(actions: CachedReads, maxBytes: number) {
    this.#actions = actions;
    this.#cached =
      maxBytes === 0
        ? null
        : new LRUCache<ActionId, Action>({ maxSize: maxBytes, sizeCalculation: weightOfEntry });
  }

  /** Adds actions read elsewhere, for `at`. */
  keep(actions: readonly Action[]): void {
    if (this.#cached === null) return;
    this.#keep(actions.filter(({ id, rev }) => rev !== this.#cached?.peek(id)?.rev));
  }

  /** The action as it was once, to guess what else to read with it. */
  before(id: ActionId): Action | null {
    return this.#cached?.peek(id) ?? null;
  }

  /** Unordered; missing ones are left out. One round trip. */
  async findByIds(ids: readonly ActionId[]): Promise<Action[]> {
    const cached = this.#cached;
    if (cached === null) return this.#actions.findByIds(ids);
    // A single id is read as if nothing were cached: the cost must not reveal whether the action exists.
    if (ids.length === 1) {
      this.#misses += 1;
      return [...this.#keep(await this.#actions.findByIds(ids))];
    }
    const known = new Map<ActionId, Action>();
    for (const id of ids) {
      const action = cached.get(id);
      if (action !== undefined) known.set(id, action);
    }
    const { changed, unchanged } = await this.#actions.findUnlessCached(ids, [...known.values()]);
    const kept = unchanged.map(({ id, rev }) => {
      const action = known.get(id);
      return action?.rev === rev ? action : id;
    });
    const current = kept.filter((action) => typeof action !== 'string');
    this.#hits += current.length;
    this.#misses += ids.length - current.length;
    // Changed to a revision shared with another cached action, which is extremely rare.
    const confused = kept.filter((action) => typeof action === 'string');
    return [
      ...current,
      ...this.#keep(changed),
      ...(confused.length === 0 ? [] : await this.#actions.findByIds(confused)),
    ];
  }

  #keep(actions: readonly Action[]): readonly Action[] {
    for (const action of actions) this.#cached?.set(action.id, action);
    return actions;
  }

  /** The cached action at a revision that was read after the caller began; `null`: not cached. */
  at(id: ActionId, rev: number): Action | null {
    const action = this.#cached?.get(id);
    if (action?.rev !== rev) return null;
    this.#hits += 1;
    return action;
  }

  /** Number of requested actions by cache hit; single reads count as misses. */
  get lookups(): { readonly hits: number; readonly misses: number } {
    return { hits: this.#hits, misses: this.#misses };
  }
}
