import type { Collection, Document, Filter } from 'mongodb';
import type { UserId } from '../../../domain/action.ts';
import { idBeside } from '../../../domain/stored-id.ts';
import { searchable, searchWords } from '../../../domain/text-forms.ts';
import type { SearchDocument } from '../../../storage/documents/directory-documents.ts';
import { index, type Index } from '../../../storage/documents/declaration.ts';
import { inOneBatch } from '../../../storage/database/batches.ts';
import { literal } from '../../../storage/stages/revision.ts';

/** Words of a name that are found, and characters of each. Bounds the entries that one name has in the index. */
const MAX_WORDS = 12;
const MAX_WORD_LENGTH = 24;
/** Characters of a name that its place in the order depends on. */
const MAX_ORDER_LENGTH = 64;

/** Ends a term that is a whole word: other terms are the beginnings of words. */
const WHOLE = ' ';
/** Begins a term that is the type of a ref. */
const TYPE = ':';

const CONDITION = { 'search.order': { $exists: true } } as const;

export const SEARCH_INDEX: Index = index(
  'search',
  { 'search.terms': 1, 'search.order': 1, _id: 1 },
  'search by words of the name; all, in order of name',
  { partialFilterExpression: CONDITION },
);

/**
 * Each name has a term for every beginning of its words, for every whole word and for the empty text, which all names have.
 * So a search is an equality, and its pages come from the index in order of name. Terms begin like ids.
 */
function termsOf(name: string): string[] {
  const terms = new Set(['']);
  for (const word of wordsIn(name)) {
    const letters = Array.from(word);
    for (let length = 1; length <= letters.length; length += 1) terms.add(letters.slice(0, length).join(''));
    terms.add(word + WHOLE);
  }
  return [...terms];
}

function wordsIn(name: string): string[] {
  return searchWords(name)
    .slice(0, MAX_WORDS)
    .map((word) => Array.from(word).slice(0, MAX_WORD_LENGTH).join(''));
}

/** Update stage that makes a name searchable, after the name and type are set. */
export function searchStage(id: string, name: string): Document {
  const ofType = { $concat: [literal(idBeside(id, TYPE)), '$type'] };
  const { order, terms } = searchOf(id, name);
  return {
    $set: {
      search: {
        order: literal(order),
        terms: { $concatArrays: [literal(terms), { $cond: [{ $gt: ['$type', null] }, [ofType], []] }] },
      },
    },
  };
}

/** How a name is found. @param type of a ref */
export function searchOf(id: string, name: string, type?: string): SearchDocument {
  const terms = [...termsOf(name), ...(type === undefined ? [] : [TYPE + type])];
  return {
    order: searchable(name).slice(0, MAX_ORDER_LENGTH),
    terms: terms.map((term) => idBeside(id, term)),
  };
}

/** Update fields with which a name is found no more. */
export const NOT_SEARCHABLE = { search: 1 } as const;

/** Filter for names that have all words of another name, which is not to be found any more. Index `search`. */
export function hasWordsOf(id: string, name: string): Document {
  const words = wordsIn(name).map((word) => idBeside(id, word + WHOLE));
  return { 'search.terms': { $all: words.length === 0 ? [idBeside(id, WHOLE)] : words }, ...CONDITION };
}

/** Where a name is in the order of all names. */
export interface NamePosition {
  readonly order: string;
  readonly id: string;
}

export interface NameQuery {
  readonly beside: UserId;
  /** Words of which the last one may be incomplete. Empty: all names. */
  readonly text: string;
  readonly type?: string | null;
  readonly after: NamePosition | null;
  readonly limit: number;
}

/** Names that have all words of a text, the last one as a beginning, in order. Index `search`. */
export async function findNames<D extends { _id: string; search?: SearchDocument }>(
  collection: Collection<D>,
  { beside, text, type, after, limit }: NameQuery,
): Promise<NamePosition[]> {
  const words = wordsIn(text);
  // Punctuation alone is in no name.
  if (words.length === 0 && text.trim() !== '') return [];
  const last = words.pop();
  const terms = [
    ...(type == null ? [] : [TYPE + type]),
    ...words.map((word) => word + WHOLE),
    ...(last === undefined && type != null ? [] : [last ?? '']),
  ].map((term) => idBeside(beside, term));
  const conditions = {
    'search.terms': terms.length === 1 ? terms[0] : { $all: terms },
    ...CONDITION,
    ...behind(after),
  };
  const found = await inOneBatch(
    collection
      .find(conditions as Filter<D>)
      .sort({ 'search.order': 1, _id: 1 })
      .project<{ _id: string; search: SearchDocument }>({ 'search.order': 1 })
      .limit(limit),
    limit,
  );
  return found.map(({ _id, search }) => ({ id: _id, order: search.order }));
}

/** The range is redundant with the tie-break condition, but lets the index be entered at the cursor. */
function behind(after: NamePosition | null): Document {
  if (after === null) return {};
  const { order, id } = after;
  return {
    'search.order': { $exists: true, $gte: order },
    $or: [{ 'search.order': { $gt: order } }, { _id: { $gt: id } }],
  };
}
