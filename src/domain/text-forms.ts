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
