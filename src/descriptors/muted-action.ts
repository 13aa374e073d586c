import { LRUCache } from 'lru-cache';
import type { ActionTexts, RefId, UserId } from '../domain/action.ts';
import { isMutedPerson, type ReaderMutes } from '../domain/mute.ts';
import { comparable, wordsOf, type Phrases } from '../domain/text-forms.ts';
import { mediaIn } from './media.ts';
import { descriptorOfType } from './registry.ts';

/** The fields of an action that mutes are matched against. */
export interface MutableAction extends ActionTexts {
  readonly actorId: UserId;
  readonly refIds: readonly RefId[];
}

export function isMutedAction(mutes: ReaderMutes, action: MutableAction): boolean {
  if (mutes.list.length === 0) return false;
  return (
    isMutedPerson(mutes, action.actorId) ||
    mutes.types.has(action.descriptor.type) ||
    action.refIds.some((refId) => mutes.refs.has(refId)) ||
    (mutes.phrases.size > 0 && hasPhrase(mutes.phrases, action))
  );
}

/** Approximate memory bound of the word cache, in bytes. */
const MAX_BYTES = 8_388_608;
/** Overhead of one cached word, in bytes. */
const WORD_BYTES = 24;

/** Words of texts, cached across requests: a name that occurs in many actions is split once. */
const known = new LRUCache<string, readonly string[]>({
  maxSize: MAX_BYTES,
  sizeCalculation: (words, text) => 4 * text.length + WORD_BYTES * (words.length + 1),
});

/** Words by decoded action, which the readers of one batch share. */
const compared = new WeakMap<MutableAction, readonly string[]>();

function hasPhrase(phrases: Phrases, action: MutableAction): boolean {
  let texts = compared.get(action);
  if (texts === undefined) compared.set(action, (texts = textsOf(action).map(comparable)));
  return texts.some((text) => phrases.mayBeIn(text) && phrases.areIn(knownWordsOf(text)));
}

/** Words of a comparable text. */
export function knownWordsOf(text: string): readonly string[] {
  const cached = known.get(text);
  if (cached !== undefined) return cached;
  const words = wordsOf(text);
  known.set(text, words);
  return words;
}

/**
 * All words of an action as stored: texts and names of the descriptor, what its pictures show and labels of its refs. Excludes tags, ids and free
 * data. For unregistered types only the labels.
 */
export function textsOf({ descriptor, refs }: ActionTexts): string[] {
  const fields = descriptorOfType(descriptor.type)?.fieldList ?? [];
  const said = fields.flatMap(({ name, field }) => {
    if (field.kind === 'media') return mediaIn(descriptor[name]).map(({ alt }) => alt);
    const value = field.kind === 'text' || field.kind === 'nameOf' ? descriptor[name] : undefined;
    return typeof value === 'string' ? [value] : [];
  });
  return [...said, ...refs.map(({ label }) => label)];
}
