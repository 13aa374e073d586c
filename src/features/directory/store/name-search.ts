import type { Collection, Document, Filter } from 'mongodb';
import type { UserId } from '../../../domain/action.ts';
import { idBeside } from '../../../domain/stored-id.ts';
import { searchable, searchRuns } from '../../../domain/text-forms.ts';
import { cut } from '../../../lib/cut.ts';
import type { SearchDocument } from '../../../storage/documents/directory-documents.ts';
import { index, type Index } from '../../../storage/documents/declaration.ts';
import { inOneBatch } from '../../../storage/database/batches.ts';
import { literal } from '../../../storage/stages/revision.ts';
import { beyond, type Stretch, turned } from '../../../storage/documents/keyset.ts';

/** Words of a search, and characters of each word of a name or a search. */
const MAX_WORDS = 12;
const MAX_WORD_LENGTH = 24;
/** Entries that one name has in the index: as many as the beginnings of so many words. */
const MAX_TERMS = MAX_WORDS * (MAX_WORD_LENGTH + 1);
/** Characters of a name that its place in the order depends on. */
const MAX_ORDER_LENGTH = 64;

/** Ends a term that is a whole word: other terms are the beginnings of words. */
const WHOLE = ' ';
/** Begins a term that is the type of a ref. */
const TYPE = ':';

const CONDITION = { 'search.order': { $exists: true } } as const;

const BY_NAME = { 'search.order': 1, _id: 1 } as const;

export const SEARCH_INDEX: Index = index(
  'search',
  { 'search.terms': 1, ...BY_NAME },
  'search by words of the name; all, in order of name',
  { partialFilterExpression: CONDITION },
);

/**
 * Each name has a term for every beginning of its words, for every whole word and for the empty text, which all names have.
 * Where a script does not separate words, each character and each pair of neighbours is a term. So a search is an equality,
 * and its pages come from the index in order of name. Terms begin like ids. What a search looks for comes first: it is among
 * the terms of a long name, too.
 */
function termsOf(form: string): string[] {
  const terms = new Set(['']);
  const runs = searchRuns(form);
  // People write O'Brien as obrien, brien or o brien.
  const parts = runs.flatMap(({ text, isUnspaced }) =>
    text.includes("'") ? text.split("'").map((part) => ({ text: part, isUnspaced })) : [],
  );
  for (const { text, isUnspaced } of [...runs, ...parts]) {
    const letters = lettersOf(text);
    for (const term of isUnspaced ? neighboursIn(letters) : beginningsOf(letters)) {
      if (terms.size > MAX_TERMS) return [...terms];
      terms.add(term);
    }
  }
  return [...terms];
}

function lettersOf(run: string): string[] {
  return Array.from(run.replaceAll("'", ''));
}

function* neighboursIn(letters: readonly string[]): Iterable<string> {
  for (const [index, letter] of letters.entries()) {
    yield letter;
    if (index > 0) yield `${letters[index - 1] ?? ''}${letter}`;
  }
}

function* beginningsOf(letters: readonly string[]): Iterable<string> {
  let beginning = '';
  for (const letter of letters.slice(0, MAX_WORD_LENGTH)) yield (beginning += letter);
  if (beginning !== '') yield beginning + WHOLE;
}

/** The terms that names must have to be found by a text. @param isComplete its last word is whole, too. */
export function termsSought(text: string, isComplete: boolean): string[] {
  const terms = searchRuns(searchable(text)).flatMap(({ text: run, isUnspaced }, index, runs) => {
    const letters = lettersOf(run);
    if (isUnspaced && letters.length > 1)
      return letters.slice(1).map((letter, before) => `${letters[before] ?? ''}${letter}`);
    const word = letters.slice(0, MAX_WORD_LENGTH).join('');
    return [isUnspaced || (index === runs.length - 1 && !isComplete) ? word : word + WHOLE];
  });
  return [...new Set(terms.slice(0, MAX_WORDS))];
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
  const form = searchable(name);
  const terms = [...termsOf(form), ...(type === undefined ? [] : [TYPE + type])];
  return {
    order: cut(form, MAX_ORDER_LENGTH),
    terms: terms.map((term) => idBeside(id, term)),
  };
}

/** Update fields with which a name is found no more. */
export const NOT_SEARCHABLE = { search: 1 } as const;

/** Filter for names that have all words of another name, which is not to be found any more. Index `search`. */
export function hasWordsOf(id: string, name: string): Document {
  const terms = termsSought(name, true);
  return {
    'search.terms': { $all: (terms.length === 0 ? [WHOLE] : terms).map((term) => idBeside(id, term)) },
    ...CONDITION,
  };
}

/** Where a name is in the order of all names. */
export interface NamePosition {
  readonly order: string;
  readonly id: string;
}

export interface NameQuery extends Stretch<NamePosition> {
  readonly beside: UserId;
  /** Words of which the last one may be incomplete. Empty: all names. */
  readonly text: string;
  readonly type?: string | null;
}

/** Names that have all words of a text, the last one as a beginning, in order. Index `search`. */
export async function findNames<D extends { _id: string; search?: SearchDocument }>(
  collection: Collection<D>,
  { beside, text, type, from, isUp, limit }: NameQuery,
): Promise<NamePosition[]> {
  const sought = termsSought(text, false);
  // Punctuation alone is in no name.
  if (sought.length === 0 && text.trim() !== '') return [];
  const all = type == null ? sought : [TYPE + type, ...sought];
  const terms = (all.length === 0 ? [''] : all).map((term) => idBeside(beside, term));
  const order = turned(BY_NAME, isUp);
  const { 'search.order': range, ...ties } = beyond(
    order,
    from && { 'search.order': from.order, _id: from.id },
  );
  const conditions = {
    'search.terms': terms.length === 1 ? terms[0] : { $all: terms },
    'search.order': { ...CONDITION['search.order'], ...(range as Document | undefined) },
    ...ties,
  };
  const found = await inOneBatch(
    collection
      .find(conditions as Filter<D>)
      .sort(order)
      .project<{ _id: string; search: SearchDocument }>({ 'search.order': 1 })
      .limit(limit),
    limit,
  );
  return found.map(({ _id, search }) => ({ id: _id, order: search.order }));
}
