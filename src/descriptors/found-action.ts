import type { ActionTexts } from '../domain/action.ts';
import { comparable, wordsOf } from '../domain/text-forms.ts';
import type { DescriptorType } from './define.ts';
import { knownWordsOf, textsOf } from './muted-action.ts';
import { descriptorOfType, servedLocales } from './registry.ts';

/** Upper bounds of what is looked for, in characters and in words. */
export const MAX_FOUND_LENGTH = 100;
export const MAX_FOUND_WORDS = 8;

/** Words of which an action must have all, in any order; of the last one its beginning is enough. Comparable. */
export type WantedWords = readonly string[];

/** @param text comparable */
export const wantedWords = (text: string): WantedWords => wordsOf(text);

/** Comparable texts by decoded action, which the readers of one batch share. */
const compared = new WeakMap<ActionTexts, readonly string[]>();

/**
 * Whether the texts and names of an action as stored, its tags, its sentence in any language of the host, and further names have
 * all the words.
 */
export function hasWords(wanted: WantedWords, action: ActionTexts, names: readonly string[]): boolean {
  let texts = compared.get(action);
  if (texts === undefined) compared.set(action, (texts = saidOf(action).map(comparable)));
  const all = [...texts, ...names.map(comparable)];
  return wanted.every((word, index) => {
    const isLast = index === wanted.length - 1;
    // Most texts do not have it at all, which is found without their words.
    return all.some(
      (text) =>
        text.includes(word) &&
        knownWordsOf(text).some((one) => (isLast ? one.startsWith(word) : one === word)),
    );
  });
}

function saidOf(action: ActionTexts): readonly string[] {
  const { descriptor } = action;
  const type = descriptorOfType(descriptor.type);
  return [...textsOf(action), ...descriptor.tags, ...(type === undefined ? [] : sentencesOf(type, action))];
}

/** Without names, which are among the others. */
function sentencesOf({ sentence }: DescriptorType, { descriptor: fields }: ActionTexts): readonly string[] {
  const spoken = new Set(servedLocales().map((locale) => sentence.spoken(locale)));
  return [...spoken].flatMap((locale) =>
    sentence
      .parts(locale, { fields, hasName: () => true })
      .flatMap((part) => (typeof part === 'string' ? [part] : [])),
  );
}
