const SEGMENTER = new Intl.Segmenter('en', { granularity: 'word' });
/** Letters and digits that the segmenter never parts: most of what people write need not be given to it. */
const ONE_WORD = /^(?:(?=[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}])\p{L}|[0-9])+$/u;
/** At these a word ends in every script. */
const GAPS = /\p{White_Space}+/u;

/** A text as phrases are compared with it: NFKC, lower case. */
export function normalised(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

/** In their order. The segmenter is slow, more than linear in the length of a text: it is given short pieces, each once. */
export function wordsOf(text: string): string[] {
  const known = new Map<string, readonly string[]>();
  const words: string[] = [];
  for (const piece of text.split(GAPS)) {
    if (piece === '') continue;
    if (ONE_WORD.test(piece)) {
      words.push(piece);
      continue;
    }
    let segments = known.get(piece);
    if (segments === undefined) known.set(piece, (segments = segmentsOf(piece)));
    words.push(...segments);
  }
  return words;
}

/** How many UTF-16 units the segmenter is given at once. */
const WINDOW = 256;
/** What ends so close to the end of a window is looked at again, with what comes after it. */
const MARGIN = 64;

/** The words of what has no gap, window by window. A window grows until it holds the word that it begins with. */
function segmentsOf(piece: string): string[] {
  const words: string[] = [];
  let size = WINDOW;
  for (let from = 0; from < piece.length;) {
    const part = piece.slice(from, from + size);
    const isLast = from + part.length === piece.length;
    const certain = isLast ? part.length : size - MARGIN;
    let taken = 0;
    for (const { segment, index, isWordLike } of SEGMENTER.segment(part)) {
      const end = index + segment.length;
      if (end > certain) break;
      if (isWordLike === true) words.push(segment);
      taken = end;
    }
    from += taken;
    size = taken === 0 ? 2 * size : WINDOW;
  }
  return words;
}

/** Phrases by their words, one after the other. */
interface Branch {
  readonly next: Map<string, Branch>;
  isEnd: boolean;
}

/** Some phrases, looked for together: one look at each place of a text goes no further than the longest phrase. */
export class Phrases {
  readonly #phrases: readonly (readonly string[])[];
  readonly #root: Branch = { next: new Map(), isEnd: false };

  /** @param phrases the normalised words of each; without any it matches nothing. */
  constructor(phrases: readonly (readonly string[])[]) {
    this.#phrases = phrases;
    for (const words of phrases) this.#grow(words);
  }

  get size(): number {
    return this.#phrases.length;
  }

  /** Whether a normalised text may hold one: it has all of its words, if only as parts of others. Cheap. */
  mayBeIn(text: string): boolean {
    return this.#phrases.some((words) => words.every((word) => text.includes(word)));
  }

  /** Whether one of them stands in a row of words. */
  areIn(words: readonly string[]): boolean {
    return words.some((_word, index) => this.#beginsAt(words, index));
  }

  #beginsAt(words: readonly string[], from: number): boolean {
    let branch: Branch | undefined = this.#root;
    for (let index = from; branch !== undefined; index += 1) {
      if (branch.isEnd) return true;
      const word = words[index];
      branch = word === undefined ? undefined : branch.next.get(word);
    }
    return false;
  }

  #grow(words: readonly string[]): void {
    if (words.length === 0) return;
    let branch = this.#root;
    for (const word of words) {
      const next: Branch = branch.next.get(word) ?? { next: new Map(), isEnd: false };
      branch.next.set(word, next);
      branch = next;
    }
    branch.isEnd = true;
  }
}
