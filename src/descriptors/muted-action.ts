import type { Action } from '../domain/action.ts';
import { isMutedMember, type ReaderMutes } from '../domain/mute.ts';
import { normalised, wordsOf, type Phrases } from '../domain/words.ts';
import { textsOf } from './texts.ts';

/** What of an action a mute goes by. */
export type MutableAction = Pick<Action, 'actorId' | 'refIds' | 'refs' | 'descriptor'>;

/** Whether a reader wants to see nothing of an action. */
export function isMutedAction(mutes: ReaderMutes, action: MutableAction): boolean {
  if (mutes.list.length === 0) return false;
  return (
    isMutedMember(mutes, action.actorId) ||
    mutes.types.has(action.descriptor.type) ||
    action.refIds.some((refId) => mutes.refs.has(refId)) ||
    (mutes.phrases.size > 0 && hasPhrase(mutes.phrases, action))
  );
}

/** One of an action's texts, with its words once they have been asked for. */
interface ComparedText {
  readonly text: string;
  words: readonly string[] | null;
}

/** By the action as it was decoded: readers of one batch share it, and a later revision is another object. */
const compared = new WeakMap<MutableAction, readonly ComparedText[]>();

function hasPhrase(phrases: Phrases, action: MutableAction): boolean {
  let texts = compared.get(action);
  if (texts === undefined) {
    texts = textsOf(action).map((text) => ({ text: normalised(text), words: null }));
    compared.set(action, texts);
  }
  return texts.some((one) => {
    if (!phrases.mayBeIn(one.text)) return false;
    one.words ??= wordsOf(one.text);
    return phrases.areIn(one.words);
  });
}
