import { LRUCache } from 'lru-cache';
import type { Action, ActionId } from '../../domain/action.ts';
import { weightOfEntry } from '../../lib/weight.ts';
import type { ActionsRepository } from './actions.ts';

export interface ActionCacheOptions {
  /** What all it holds may take, in bytes. 0: it holds nothing. */
  readonly maxBytes: number;
  /** Whether every process that writes to the database gives actions another revision with every change. */
  readonly isTrusted: () => Promise<boolean>;
}

/**
 * Decoded actions of one process, each shown again only where a read that began after the caller asked says that it has not
 * changed. So it saves bringing and decoding actions, never asking for them. What it gives is as it is stored now, but for
 * `fanOut`, which may be of an earlier time.
 */
export class ActionCache {
  readonly #actions: Pick<ActionsRepository, 'findByIds' | 'findUnlessCached'>;
  readonly #cached: LRUCache<ActionId, Revised> | null;
  readonly #isTrusted: () => Promise<boolean>;
  #hits = 0;
  #misses = 0;

  constructor(
    actions: Pick<ActionsRepository, 'findByIds' | 'findUnlessCached'>,
    { maxBytes, isTrusted }: ActionCacheOptions,
  ) {
    this.#actions = actions;
    this.#isTrusted = isTrusted;
    this.#cached =
      maxBytes === 0
        ? null
        : new LRUCache<ActionId, Revised>({ maxSize: maxBytes, sizeCalculation: weightOfEntry });
  }

  /** Finds out whether revisions can be trusted, so that no read has to. */
  async open(): Promise<void> {
    await this.#isTrusted();
  }

  /** Holds what was read elsewhere, for `at`. */
  async keep(actions: readonly Action[]): Promise<void> {
    if (this.#cached === null || !(await this.#isTrusted())) return;
    this.#keep(actions.filter(({ id, rev }) => rev !== this.#cached?.peek(id)?.rev));
  }

  /** In no particular order; missing ones are left out. One round trip. */
  async findByIds(ids: readonly ActionId[]): Promise<Action[]> {
    const cached = this.#cached;
    if (cached === null || !(await this.#isTrusted())) return this.#actions.findByIds(ids);
    // What is asked for alone is read as if nothing were known of it: how much work it is must not tell whether there is one.
    if (ids.length === 1) {
      this.#misses += 1;
      return [...this.#keep(await this.#actions.findByIds(ids))];
    }
    const known = new Map<ActionId, Revised>();
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
    // Changed to a revision that another of them has: as good as never.
    const confused = kept.filter((action) => typeof action === 'string');
    return [
      ...current,
      ...this.#keep(changed),
      ...(confused.length === 0 ? [] : await this.#actions.findByIds(confused)),
    ];
  }

  #keep(actions: readonly Action[]): readonly Action[] {
    for (const action of actions) if (isRevised(action)) this.#cached?.set(action.id, action);
    return actions;
  }

  /** The action as of a revision that was read since the caller began; null: it is not held. */
  at(id: ActionId, rev: number): Action | null {
    const action = this.#cached?.get(id);
    if (action?.rev !== rev) return null;
    this.#hits += 1;
    return action;
  }

  /** Actions that were asked for, and whether they were held; one that is read alone counts as a miss. */
  get lookups(): { readonly hits: number; readonly misses: number } {
    return { hits: this.#hits, misses: this.#misses };
  }
}

type Revised = Action & { readonly rev: number };

function isRevised(action: Action): action is Revised {
  return action.rev !== undefined;
}
