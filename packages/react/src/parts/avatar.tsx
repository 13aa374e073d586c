import type { ReactNode } from 'react';
import type { FanfareAction } from '../item.ts';
import { usePicture } from './picture.ts';

interface Who {
  readonly id: string;
  readonly name: string;
}

interface Props extends Who {
  /** The address of a picture. Without one, and while it cannot be loaded: the initials. */
  readonly src?: string | null | undefined;
}

interface Leading {
  readonly actor: Pick<FanfareAction['actor'], 'memberId' | 'name'> & {
    readonly imageUrl?: string | null;
  };
  readonly descriptor: Pick<FanfareAction['descriptor'], 'summaryParts'>;
}

/** A picture, or initials in a colour that follows from the id. Beside the name, so nothing of it is read out. */
export function Avatar({ id, name, src }: Props): ReactNode {
  const { picture, isShown, onError } = usePicture(src);
  return (
    // A style of its own would need a policy of the page that allows it.
    <span data-fanfare="avatar" data-hue={hueOf(id)} aria-hidden="true">
      {isShown ? <img ref={picture} src={src ?? undefined} alt="" onError={onError} /> : initialsOf(name)}
    </span>
  );
}

/** Whom the sentence of an action begins with: who did it, or in whose name it was done. */
export function leaderOf({ actor, descriptor }: Leading): Props {
  const { member = null, ref = null, text = '' } = descriptor.summaryParts[0] ?? {};
  const id = member?.memberId ?? ref?.refId;
  if (id !== undefined && id !== actor.memberId) return { id, name: text };
  return { id: actor.memberId, name: id === undefined ? actor.name : text, src: actor.imageUrl };
}

/** One of 24. Neighbours in the alphabet are not neighbours in colour: FNV-1a. */
function hueOf(id: string): number {
  let hash = 2_166_136_261;
  for (const character of id) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619);
  return (hash >>> 8) % 24;
}

/**
 * What a reader sees as one character, such as an emoji of several or a flag. By a pattern: not all browsers have
 * `Intl.Segmenter`, and the server has to come to the same.
 */
const FIRST_CHARACTER = /^(?:\p{Regional_Indicator}{2}|.(?:[\p{M}\p{Emoji_Modifier}]|\u{200D}.)*)/su;

function initialsOf(name: string): string {
  const words = name.split(/[\s:._-]+/u).filter((word) => /[\p{L}\p{N}\p{Emoji}]/u.test(word));
  const [first = name, last] = words.length > 1 ? [words[0], words.at(-1)] : [words[0]];
  return [first, last]
    .map((word = '') => FIRST_CHARACTER.exec(word)?.[0] ?? '')
    .join('')
    .toLocaleUpperCase();
}
