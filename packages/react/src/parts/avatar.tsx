import type { CSSProperties, ReactNode } from 'react';
import type { FanfareAction } from '../item.ts';

interface Props {
  readonly id: string;
  readonly name: string;
}

interface Leading {
  readonly actor: FanfareAction['actor'];
  readonly descriptor: Pick<FanfareAction['descriptor'], 'summaryParts'>;
}

/** Initials in a colour that follows from the id. Beside the name, so nothing of it is read out. */
export function Avatar({ id, name }: Props): ReactNode {
  const style = { '--fanfare-hue': String(hueOf(id)) } as CSSProperties;
  return (
    <span data-fanfare="avatar" aria-hidden="true" style={style}>
      {initialsOf(name)}
    </span>
  );
}

/** Whom the sentence of an action begins with: who did it, or in whose name it was done. */
export function leaderOf({ actor, descriptor }: Leading): Props {
  const { member = null, ref = null, text = '' } = descriptor.summaryParts[0] ?? {};
  const id = member?.memberId ?? ref?.refId;
  return id === undefined ? { id: actor.memberId, name: actor.name } : { id, name: text };
}

/** Neighbours in the alphabet are not neighbours in colour: FNV-1a. */
function hueOf(id: string): number {
  let hash = 2_166_136_261;
  for (const character of id) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619);
  return ((hash >>> 8) % 24) * 15;
}

let segments: Intl.Segmenter | undefined;

/** What a reader sees as one character, such as an emoji of several, stays whole. */
function initialsOf(name: string): string {
  segments ??= new Intl.Segmenter();
  const words = name.split(/[\s:._-]+/u).filter((word) => /[\p{L}\p{N}\p{Emoji}]/u.test(word));
  const [first = name, last] = words.length > 1 ? [words[0], words.at(-1)] : [words[0]];
  return [first, last]
    .map((word = '') => [...(segments?.segment(word) ?? [])][0]?.segment ?? '')
    .join('')
    .toLocaleUpperCase();
}
