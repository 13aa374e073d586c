import { LRUCache } from 'lru-cache';
import type { RefId, UserId } from '../../domain/action.ts';
import type { Member, RefName } from '../../domain/member.ts';
import { clock } from '../../lib/clock.ts';
import { weightOfEntry } from '../../lib/weight.ts';
import type { DirectoryStamp, DirectoryStampsRepository } from './directory-stamps.ts';
import type { MembersRepository } from './members.ts';
import type { RefsRepository } from './refs.ts';

export interface NameCacheParts {
  readonly members: Pick<MembersRepository, 'findByIds'>;
  readonly refs: Pick<RefsRepository, 'namesOf'>;
  readonly directoryStamps: Pick<DirectoryStampsRepository, 'read'>;
}

export interface NameCacheOptions {
  /** What all it holds may take, in bytes. 0: it holds nothing. */
  readonly maxBytes: number;
  /** Whether every process that writes to the database stamps the directory with every change. */
  readonly isTrusted: () => Promise<boolean>;
}

/** A process that dies between a change and its stamp leaves the names as they were to other processes for so long. */
export const NAMES_MAX_AGE_MS = 60_000;

interface CachedName {
  readonly bucket: number;
  readonly at: number;
  /** Null: there is none of this id. */
  readonly value: Member | RefName | null;
}

/**
 * Members of one process, and what refs are called, each given again only while a stamp that was read since the caller
 * began says that nothing of its bucket has changed.
 */
export class NameCache {
  readonly #parts: NameCacheParts;
  readonly #cached: LRUCache<string, CachedName> | null;
  readonly #isTrusted: () => Promise<boolean>;
  #latest: DirectoryStamp | null = null;
  #hits = 0;
  #misses = 0;

  constructor(parts: NameCacheParts, { maxBytes, isTrusted }: NameCacheOptions) {
    this.#parts = parts;
    this.#isTrusted = isTrusted;
    this.#cached =
      maxBytes === 0
        ? null
        : new LRUCache<string, CachedName>({ maxSize: maxBytes, sizeCalculation: weightOfEntry });
  }

  /** Finds out whether stamps can be trusted, so that no read has to. */
  async open(): Promise<void> {
    await this.#isTrusted();
  }

  /**
   * The directory as of a stamp that was read since the caller began, or later; null: nothing may be held. A round
   * trip where the stamp is not the one that was read last.
   */
  async asOf(stamp: number): Promise<DirectoryStamp | null> {
    if (this.#cached === null || !(await this.#isTrusted())) return null;
    if (this.#latest?.stamp === stamp) return this.#latest;
    const read = await this.#parts.directoryStamps.read();
    this.#latest = read;
    return read;
  }

  /** In no particular order; missing ones are left out. No round trip where all of them are known. */
  members(asOf: DirectoryStamp, ids: readonly UserId[]): Promise<Member[]> {
    return this.#find(ids, {
      ...{ asOf, kind: 'm', idOf: ({ userId }) => userId },
      load: (missing) => this.#parts.members.findByIds(missing),
    });
  }

  /** The same of refs. */
  refNames(asOf: DirectoryStamp, ids: readonly RefId[]): Promise<RefName[]> {
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

  /** Members and refs that were asked for, and whether it was known what they are called. */
  get lookups(): { readonly hits: number; readonly misses: number } {
    return { hits: this.#hits, misses: this.#misses };
  }
}

interface Lookup<T> {
  readonly asOf: DirectoryStamp;
  readonly kind: 'm' | 'r';
  readonly load: (ids: readonly string[]) => Promise<readonly T[]>;
  readonly idOf: (value: T) => string;
}
