import { LRUCache } from 'lru-cache';
import type { SharedText } from '../../../graphql/rendering/answer.ts';
import type { ReaderSession } from '../../../feed/session/reader-session.ts';
import { clock } from '../../../lib/clock.ts';
import { ENTRY_BYTES, weightOf, weightOfText } from '../../../lib/weight.ts';

type Directory = NonNullable<Awaited<ReturnType<ReaderSession['directory']>>>;

interface Rendered {
  readonly version: number | string;
  /** Directory stamp at which the names in the text were read, or later confirmed. */
  stamp: number;
  readonly at: number;
  /** The members whose names may be shown in it. */
  readonly ids: readonly string[];
  /** Their stamps at that time. */
  readonly stamps: readonly number[];
  readonly text: SharedText;
}

/**
 * Cache of rendered parts of objects. A part is valid while the object has the version it was rendered from and no stamp of
 * its names has changed: both are read after the request began.
 */
export class PartCache {
  readonly #rendered: LRUCache<string, Rendered> | null;
  #hits = 0;
  #misses = 0;

  /** @param maxBytes upper bound on the memory of all parts, in bytes. 0 disables the cache. */
  constructor(maxBytes: number) {
    this.#rendered =
      maxBytes === 0
        ? null
        : new LRUCache<string, Rendered>({ maxSize: maxBytes, sizeCalculation: weightOfRendered });
  }

  /**
   * A part known to be current without comparing names: the directory stamp is unchanged. `null`: see `find`.
   * @param stamp of the directory, read after the request began.
   */
  peek(key: string, version: number | string, stamp: number): SharedText | null {
    const found = this.#rendered?.get(key);
    if (found?.version !== version || found.stamp !== stamp || !isYoung(found)) return null;
    this.#hits += 1;
    return found.text;
  }

  /** The same after the directory stamp has changed. */
  find(key: string, version: number | string, directory: Directory): SharedText | null {
    const found = this.#rendered?.get(key);
    if (found?.version !== version || !isYoung(found)) return null;
    if (found.ids.some((id, index) => found.stamps[index] !== directory.stampOf(id))) return null;
    found.stamp = directory.stamp;
    this.#hits += 1;
    return found.text;
  }

  put(key: string, part: Pick<Rendered, 'version' | 'ids'>, directory: Directory, text: SharedText): void {
    if (this.#rendered === null) return;
    this.#misses += 1;
    const stamps = part.ids.map((id) => directory.stampOf(id));
    this.#rendered.set(key, { ...part, stamp: directory.stamp, at: clock.time(), stamps, text });
  }

  /** Number of parts reused, and of parts rendered. */
  get lookups(): { readonly hits: number; readonly misses: number } {
    return { hits: this.#hits, misses: this.#misses };
  }
}

/** If a process dies between a change and its stamp, rendered names may be outdated for this long. */
const MAX_AGE_MS = 60_000;

function isYoung({ at }: Rendered): boolean {
  return clock.time() - at < MAX_AGE_MS;
}

/** The text is a slice of a longer one, which stays in memory with it. */
const CUT_BYTES = 32;

function weightOfRendered({ text, ...rendered }: Rendered, key: string): number {
  return ENTRY_BYTES + weightOfText(key) + weightOf(rendered) + CUT_BYTES + weightOfText(text.text);
}
