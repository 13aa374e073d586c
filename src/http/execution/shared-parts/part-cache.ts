import { LRUCache } from 'lru-cache';
import type { Action } from '../../../domain/action.ts';
import type { ReaderSession } from '../../../services/session/reader-session.ts';
import { clock } from '../../../lib/clock.ts';
import { ENTRY_BYTES, weightOf, weightOfText } from '../../../lib/weight.ts';
import type { SharedText } from './shared-text.ts';

type Directory = NonNullable<Awaited<ReturnType<ReaderSession['directory']>>>;

interface Rendered {
  readonly rev: number;
  /** Of the directory as of which the names in it were read, or as of which they were found to be the same. */
  stamp: number;
  readonly at: number;
  /** Whatever in the action may be an id whose name is shown. */
  readonly ids: readonly string[];
  /** What each of them was stamped with. */
  readonly stamps: readonly number[];
  readonly text: SharedText;
}

/**
 * Rendered parts of actions. One is shown again while the action has the revision that it was rendered from, and nothing
 * was stamped that could have given it another name: both were read since the request began.
 */
export class PartCache {
  readonly #rendered: LRUCache<string, Rendered> | null;
  #hits = 0;
  #misses = 0;

  /** @param maxBytes what all of them may take, in bytes. 0: nothing is kept. */
  constructor(maxBytes: number) {
    this.#rendered =
      maxBytes === 0
        ? null
        : new LRUCache<string, Rendered>({ maxSize: maxBytes, sizeCalculation: weightOfRendered });
  }

  /**
   * What is known to be current without another look: the directory has the stamp that it had. Null: see `find`.
   * @param stamp of the directory, as it was read since the request began.
   */
  peek(key: string, { rev }: Action, stamp: number): SharedText | null {
    const found = this.#rendered?.get(key);
    if (found?.rev !== rev || found?.stamp !== stamp || !isYoung(found)) return null;
    this.#hits += 1;
    return found.text;
  }

  /** The same where something has been stamped since. */
  find(key: string, { rev }: Action, directory: Directory): SharedText | null {
    const found = this.#rendered?.get(key);
    if (found?.rev !== rev || found === undefined || !isYoung(found)) return null;
    if (found.ids.some((id, index) => found.stamps[index] !== directory.stampOf(id))) return null;
    found.stamp = directory.stamp;
    this.#hits += 1;
    return found.text;
  }

  put(key: string, action: Action, directory: Directory, text: SharedText): void {
    const { rev } = action;
    if (rev === undefined || this.#rendered === null) return;
    this.#misses += 1;
    const ids = idsIn(action);
    const stamps = ids.map((id) => directory.stampOf(id));
    this.#rendered.set(key, { rev, stamp: directory.stamp, at: clock.time(), ids, stamps, text });
  }

  /** Parts that were shown again, and parts that were rendered to be. */
  get lookups(): { readonly hits: number; readonly misses: number } {
    return { hits: this.#hits, misses: this.#misses };
  }
}

/** A process that dies between a change and its stamp leaves what is rendered as it was for so long. */
const MAX_AGE_MS = 60_000;

function isYoung({ at }: Rendered): boolean {
  return clock.time() - at < MAX_AGE_MS;
}

function idsIn({ actorId, refs, descriptor }: Action): string[] {
  const fields = Object.values(descriptor).filter((value) => typeof value === 'string');
  return [...new Set([actorId, ...refs.map(({ id }) => id), ...fields])];
}

/** The text is cut out of a longer one, which stays with it. */
const CUT_BYTES = 32;

function weightOfRendered({ text, ...rendered }: Rendered, key: string): number {
  return ENTRY_BYTES + weightOfText(key) + weightOf(rendered) + CUT_BYTES + weightOfText(text.text);
}
