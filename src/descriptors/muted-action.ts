import { LRUCache } from 'lru-cache';
import type { Action } from '../domain/action.ts';
import { isMutedMember, type ReaderMutes } from '../domain/mute.ts';
import { normalised, wordsOf, type Phrases } from '../domain/words.ts';
import { textsOf } from './texts.ts';

/** What of an action a mute goes by. */
export type MutableAction = Pick<Action, 'actorId' | 'refIds' | 'refs' | 'descriptor'>;

export function isMutedAction(mutes: ReaderMutes, action: MutableAction): boolean {
  if (mutes.list.length === 0) return false;
  return (
    isMutedMember(mutes, action.actorId) ||
    mutes.types.has(action.descriptor.type) ||
    action.refIds.some((refId) => mutes.refs.has(refId)) ||
    (mutes.phrases.size > 0 && hasPhrase(mutes.phrases, action))
  );
}

/** What of texts stays in memory, in bytes, roughly. */
const MAX_BYTES = 8_388_608;
/** Of a word besides its letters. */
const WORD_BYTES = 24;

/** The words of texts, from request to request: a name that many actions have is taken apart once. */
const known = new LRUCache<string, readonly string[]>({
  maxSize: MAX_BYTES,
  sizeCalculation: (words, text) => 4 * text.length + WORD_BYTES * (words.length + 1),
});

/** By the action as it was decoded: readers of one batch share it. */
const compared = new WeakMap<MutableAction, readonly string[]>();

function hasPhrase(phrases: Phrases, action: MutableAction): boolean {
  let texts = compared.get(action);
  if (texts === undefined) compared.set(action, (texts = textsOf(action).map(normalised)));
  return texts.some((text) => phrases.mayBeIn(text) && phrases.areIn(knownWordsOf(text)));
}

function knownWordsOf(text: string): readonly string[] {
  const cached = known.get(text);
  if (cached !== undefined) return cached;
  const words = wordsOf(text);
  known.set(text, words);
  return words;
}
