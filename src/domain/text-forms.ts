import { cut } from '../lib/cut.ts';

const SEGMENTER = new Intl.Segmenter('en', { granularity: 'word' });
/** Runs of letters and digits that the segmenter never splits: most text need not be passed to it. */
const ONE_WORD = /^(?:(?=[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}])\p{L}|[0-9])+$/u;
/** Word boundaries in every script, whatever stands beside them: most symbols, and nearly all if there are two. */
const GAPS =
  /[\p{White_Space}!#$%&()*+\-/<=>?@[\\\]^{|}~]+|(?<![\p{Script=Hebrew}\p{M}])(?:(?![\p{Pc}\p{EMod}])[\p{P}\p{S}]){2,}|(?<=[a-z])[,;]|[,;](?=[a-z])/u;
/** They are part of a word only between letters or digits, but for an apostrophe after a Hebrew letter. */
const OUTER = /^["'.,:;]|(?<![\p{Script=Hebrew}\p{M}])["'.,:;]$/gu;

/** Words in order. The segmenter is slower than linear in its input, so it gets short, non-overlapping pieces. */
export function wordsOf(text: string): string[] {
  const known = new Map<string, readonly string[]>();
  const words: string[] = [];
  for (const between of text.split(GAPS)) {
    const piece = between.replace(OUTER, '');
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
/** Characters that keyboards and word processors write for an apostrophe. */
const APOSTROPHES = /[\u2018\u2019\u201b\u02b9\u02bb\u02bc\u2032\u00b4`]/gu;
const ASCII = /^[\x00-\x5f\x61-\x7f]*$/;

/**
 * How much of a text is compared: the longest text that an action can have. Normalisation makes eighteen characters of one,
 * so it ends when it has made this many.
 */
export const MAX_COMPARED = 8_192;
/** Characters that are normalised at once: work that the end may make superfluous. */
const NORMALISED_AT_ONCE = 1_024;
/** Combining marks on one letter that are compared, as many as Unicode's stream-safe format has. Sorting them is quadratic. */
const MAX_MARKS = 30;
// The lower number spares scripts whose letters have several marks a call for each.
const MANY_MARKS = /\p{M}{8,}/gu;

function withoutManyMarks(text: string): string {
  return text.replace(MANY_MARKS, (marks) => cut(marks, MAX_MARKS));
}

/** NFKC, up to what composes across pieces, which the caller's last normalisation does. */
function compatible(text: string, most: number): string {
  let made = '';
  for (let from = 0; from < text.length && made.length < most;) {
    const piece = cut(text.slice(from, from + NORMALISED_AT_ONCE + 1), NORMALISED_AT_ONCE);
    made += piece.normalize('NFKC');
    from += piece.length;
  }
  return cut(made, most);
}

/**
 * The form in which texts and phrases are compared: NFKC, full case folding without a distinction of dotted and dotless i,
 * without what is not shown, with one apostrophe. Its length and the work for it are bounded, whatever the text is.
 */
export function comparable(text: string): string {
  return folded(text, MAX_COMPARED);
}

function folded(given: string, most: number): string {
  const text = cut(given, most);
  if (ASCII.test(text)) return text.toLowerCase();
  const shown = compatible(withoutManyMarks(text.replace(IGNORABLE, '').replace(APOSTROPHES, "'")), most);
  // JavaScript has no case folding: ẞ needs the first step, ß and ı the second.
  const cased = shown.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
  const form = cased.normalize('NFD').replaceAll('i\u0307', 'i').normalize('NFKC').replace(APOSTROPHES, "'");
  return cut(form, most);
}

/** Accents and vowel points; not the marks that make another letter, as in Japanese or Devanagari. */
const ACCENTS = /[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]/gu;
/** Letters with a stroke, and ligatures: they are written without, but do not decompose. */
const PLAIN: Readonly<Record<string, string>> = {
  ...{ ø: 'o', ł: 'l', đ: 'd', ħ: 'h', ð: 'd', ŧ: 't', þ: 'th', æ: 'ae', œ: 'oe' },
};
const STROKED = new RegExp(`[${Object.keys(PLAIN).join('')}]`, 'gu');

/** Characters of a name that are searched, and that its place in the order depends on. */
const MAX_SEARCHED = 512;

/** The form in which names are searched and sorted: `comparable`, without accents. */
export function searchable(text: string): string {
  const form = folded(text, MAX_SEARCHED);
  if (ASCII.test(form)) return form;
  const bare = form.normalize('NFD').replace(ACCENTS, '').normalize('NFC');
  return bare.replace(STROKED, (letter) => PLAIN[letter] ?? letter);
}

const BETWEEN_WORDS = /[^\p{L}\p{M}\p{N}']+/u;
/** Scripts that are written without spaces between words. */
const UNSPACED = '\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}';
const RUNS = new RegExp(`[${UNSPACED}]+|[^${UNSPACED}]+`, 'gu');
const IS_UNSPACED = new RegExp(`^[${UNSPACED}]`, 'u');

/** Letters, digits and apostrophes of a name without anything between them. */
interface SearchRun {
  /** Decomposed, so that a letter begins like the one it becomes while it is typed. */
  readonly text: string;
  /** Whether it may be several words: its script does not separate them. */
  readonly isUnspaced: boolean;
}

/**
 * The search terms of a name, in order. No dictionary divides it: one would divide a name differently with each further
 * character that is typed.
 */
export function searchRuns(form: string): SearchRun[] {
  return form
    .normalize('NFD')
    .split(BETWEEN_WORDS)
    .flatMap((piece) => piece.match(RUNS) ?? [])
    .filter((text) => !/^'*$/.test(text))
    .map((text) => ({ text, isUnspaced: IS_UNSPACED.test(text) }));
}

/** Equal tags have one form: NFC. Up to three times as long. */
export function tagForm(tag: string): string {
  return tag.normalize('NFC');
}

const VARIATIONS = /[\ufe00-\ufe0f]/gu;

/** Longest reaction that can be configured, in characters. */
export const MAX_REACTION_LENGTH = 32;

/** Reactions are the same whether an emoji is asked for as a picture, as text, or not at all. */
export function reactionForm(reaction: string): string {
  return reaction.normalize('NFC').replace(VARIATIONS, '');
}

/** Which of these is meant. Undefined: none. */
export function reactionAmong(known: readonly string[], given: string): string | undefined {
  if (known.includes(given)) return given;
  // With what is left out, and decomposed, a reaction is a few times as long.
  if (given.length > 4 * MAX_REACTION_LENGTH) return undefined;
  const form = reactionForm(given);
  return known.find((reaction) => reactionForm(reaction) === form);
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
