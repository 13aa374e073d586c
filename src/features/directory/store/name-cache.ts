import { LRUCache } from 'lru-cache';
import type { RefId, UserId } from '../../../domain/action.ts';
import type { Member, RefName } from '../../../domain/member.ts';
import { clock } from '../../../lib/clock.ts';
import { weightOfEntry } from '../../../lib/weight.ts';
import type { DirectoryAsOf, DirectoryStampsRepository } from '../../../storage/stamps/directory-stamps.ts';
import type { MembersRepository } from './members.ts';
import type { RefsRepository } from './refs.ts';

declare module '../../../storage/repositories.ts' {
  interface Repositories {
    readonly nameCache: NameCache;
  }
}

export interface NameCacheParts {
  readonly members: { findByIds: MembersRepository['findByIds'] };
  readonly refs: { namesOf: RefsRepository['namesOf'] };
  readonly directoryStamps: { read: DirectoryStampsRepository['read'] };
}

/** If a process dies between a change and its stamp, others may show the old name for at most this long. */
export const NAMES_MAX_AGE_MS = 60_000;

interface CachedName {
  readonly bucket: number;
  readonly at: number;
  /** `null`: there is no such id. */
  readonly value: Member | RefName | null;
}

/**
 * Members and ref names of one process. A cached entry is used only if a stamp read after the request began says that
 * nothing in its bucket has changed.
 */
export class NameCache {
  readonly #parts: NameCacheParts;
  readonly #cached: LRUCache<string, CachedName> | null;
  #latest: DirectoryAsOf | null = null;
  #hits = 0;
  #misses = 0;

  /** @param maxBytes upper bound on the memory of cached names; 0 disables the cache. */
  constructor(parts: NameCacheParts, maxBytes: number) {
    this.#parts = parts;
    this.#cached =
      maxBytes === 0
        ? null
        : new LRUCache<string, CachedName>({ maxSize: maxBytes, sizeCalculation: weightOfEntry });
  }

  /**
   * The directory as of a stamp that was read after the caller began, or later; `null`: caching is off. A round trip if the
   * stamp differs from the last one read.
   */
  async asOf(stamp: number): Promise<DirectoryAsOf | null> {
    if (this.#cached === null) return null;
    if (this.#latest?.stamp === stamp) return this.#latest;
    const read = await this.#parts.directoryStamps.read();
    this.#latest = read;
    return read;
  }

  /** Unordered; missing ones are left out. No round trip if all are cached. */
  members(asOf: DirectoryAsOf, ids: readonly UserId[]): Promise<Member[]> {
    return this.#find(ids, {
      ...{ asOf, kind: 'm', idOf: ({ userId }) => userId },
      load: (missing) => this.#parts.members.findByIds(missing),
    });
  }

  refNames(asOf: DirectoryAsOf, ids: readonly RefId[]): Promise<RefName[]> {
    return this.#find(ids, {
      ...{ asOf, kind: 'r', idOf: ({ refId }) => refId },
      load: (missing) => this.#parts.refs.namesOf(missing),
    });
  }

  async #find<T extends Member | RefName>(
    ids: readonly string[],
    { asOf, kind, load, idOf }: Lookup<T>,
  ): Promise<T[]> {
    const now = clock.time();
    const found: T[] = [];
    const missing: string[] = [];
    for (const id of ids) {
      const cached = this.#cached?.get(kind + id);
      if (cached?.bucket !== asOf.stampOf(id) || now - cached.at > NAMES_MAX_AGE_MS) missing.push(id);
      else if (cached.value !== null) found.push(cached.value as T);
    }
    this.#hits += ids.length - missing.length;
    this.#misses += missing.length;
    if (missing.length === 0) return found;
    const loaded = new Map((await load(missing)).map((value) => [idOf(value), value]));
    for (const id of missing)
      this.#cached?.set(kind + id, { bucket: asOf.stampOf(id), at: now, value: loaded.get(id) ?? null });
    return [...found, ...loaded.values()];
  }

  /** Number of requested members and refs by cache hit. */
  get lookups(): { readonly hits: number; readonly misses: number } {
    return { hits: this.#hits, misses: this.#misses };
  }
}

interface Lookup<T> {
  readonly asOf: DirectoryAsOf;
  readonly kind: 'm' | 'r';
  readonly load: (ids: readonly string[]) => Promise<readonly T[]>;
  readonly idOf: (value: T) => string;
}
