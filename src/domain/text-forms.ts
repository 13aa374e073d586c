const SEGMENTER = new Intl.Segmenter('en', { granularity: 'word' });
/** Runs of letters and digits that the segmenter never splits: most text need not be passed to it. */
const ONE_WORD = /^(?:(?=[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}])\p{L}|[0-9])+$/u;
/** Word boundaries in every script. */
const GAPS = /\p{White_Space}+/u;

/** Words in order. The segmenter is slower than linear in its input, so it gets short, non-overlapping pieces. */
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

/** UTF-16 units passed to the segmenter at once. */
const WINDOW = 256;
/** Words that end this close to the end of a window are segmented again together with the following text. */
const MARGIN = 64;

/** Words of a text without obvious boundaries, window by window. A window grows until it contains its first word. */
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

/** Phrases as a tree of words. */
interface Branch {
  readonly next: Map<string, Branch>;
  isEnd: boolean;
}

/** Matches several phrases at once: at each word it reads no further than the longest phrase. */
export class Phrases {
  readonly #phrases: readonly (readonly string[])[];
  readonly #root: Branch = { next: new Map(), isEnd: false };

  /** @param phrases the comparable words of each phrase; an empty list matches nothing. */
  constructor(phrases: readonly (readonly string[])[]) {
    this.#phrases = phrases;
    for (const words of phrases) this.#grow(words);
  }

  get size(): number {
    return this.#phrases.length;
  }

  /** Cheap pre-check: the comparable text contains all words of some phrase, at least as substrings. */
  mayBeIn(text: string): boolean {
    return this.#phrases.some((words) => words.every((word) => text.includes(word)));
  }

  /** Whether one of the phrases occurs as consecutive words. */
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

/*
 * Every normal form of a text, one for each sort of text. docs/limits.md has them as a table.
 */

const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu;
/** What keyboards and word processors write for an apostrophe. */
const APOSTROPHES = /[\u2018\u2019\u201b\u02b9\u02bb\u02bc\u2032\u00b4`]/gu;
const ASCII = /^[\x00-\x5f\x61-\x7f]*$/;

/**
 * The form in which texts and phrases are compared: NFKC, full case folding without a distinction of dotted and dotless i,
 * without what is not shown, with one apostrophe.
 */
export function comparable(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const shown = text.replace(IGNORABLE, '').replace(APOSTROPHES, "'").normalize('NFKC');
  // JavaScript has no case folding: ẞ needs the first step, ß and ı the second.
  const folded = shown.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
  return folded.normalize('NFD').replaceAll('i\u0307', 'i').normalize('NFKC').replace(APOSTROPHES, "'");
}

/** Accents and vowel points; not the marks that make another letter, as in Japanese or Devanagari. */
const ACCENTS = /[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]/gu;
/** Letters with a stroke, and ligatures: they are written without, but do not decompose. */
const PLAIN: Readonly<Record<string, string>> = {
  ...{ ø: 'o', ł: 'l', đ: 'd', ħ: 'h', ð: 'd', ŧ: 't', þ: 'th', æ: 'ae', œ: 'oe' },
};
const STROKED = new RegExp(`[${Object.keys(PLAIN).join('')}]`, 'gu');

/** The form in which names are searched and sorted: `comparable`, without accents. */
export function searchable(text: string): string {
  const form = comparable(text);
  if (ASCII.test(form)) return form;
  const bare = form.normalize('NFD').replace(ACCENTS, '').normalize('NFC');
  return bare.replace(STROKED, (letter) => PLAIN[letter] ?? letter);
}

const BETWEEN_WORDS = /[^\p{L}\p{M}\p{N}]+/u;

/** Words of a name in the form in which they are searched. What is between letters and digits separates them. */
export function searchWords(text: string): string[] {
  return searchable(text)
    .split(BETWEEN_WORDS)
    .flatMap((piece) => wordsOf(piece));
}

/** Equal tags have one form: NFC. */
export function tagForm(tag: string): string {
  return tag.normalize('NFC');
}

const VARIATIONS = /[\ufe00-\ufe0f]/gu;

/** Reactions are the same whether an emoji is asked for as a picture, as text, or not at all. */
export function reactionForm(reaction: string): string {
  return reaction.normalize('NFC').replace(VARIATIONS, '');
}

/** Which of these is meant. Undefined: none. */
export function reactionAmong(known: readonly string[], given: string): string | undefined {
  const form = reactionForm(given);
  return known.includes(given) ? given : known.find((reaction) => reactionForm(reaction) === form);
}

const CONTROL = /\p{Cc}/u;
/** At least one visible character: not only spaces, invisible or unassigned characters, or combining marks. */
const VISIBLE = /[^\p{C}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/u;

export function hasControl(text: string): boolean {
  return CONTROL.test(text);
}

export function isVisible(text: string): boolean {
  return VISIBLE.test(text);
}

/** Letters that are written from right to left, and characters that set the direction. */
const DIRECTED =
  /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
/** They reach beyond the text they are in if they are not ended in it. */
const REACHING = /[\u202a-\u202e\u2066-\u2069]/gu;

export function isDirected(text: string): boolean {
  return DIRECTED.test(text);
}

/** A text that cannot change the direction of what stands around it: between U+2068 and U+2069. */
export function isolated(text: string): string {
  return `\u2068${text.replace(REACHING, '')}\u2069`;
}
