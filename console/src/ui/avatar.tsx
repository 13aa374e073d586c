import type { CSSProperties, ReactNode } from 'react';

interface Props {
  readonly id: string;
  readonly name: string;
}

/** Initials in a colour that follows from the id. Beside the name, so nothing of it is read out. */
export function Avatar({ id, name }: Props): ReactNode {
  return (
    <span className="avatar" aria-hidden="true" style={{ '--hue': String(hueOf(id)) } as CSSProperties}>
      {initialsOf(name)}
    </span>
  );
}

/** Several who did the same, one over the other. */
export function Avatars({ of }: { readonly of: readonly Props[] }): ReactNode {
  return (
    <span className="avatars">
      {of.map(({ id, name }) => (
        <Avatar key={id} {...{ id, name }} />
      ))}
    </span>
  );
}

/** Neighbours in the alphabet are not neighbours in colour: FNV-1a. */
function hueOf(id: string): number {
  let hash = 2_166_136_261;
  for (const character of id) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619);
  return ((hash >>> 8) % 24) * 15;
}

const segments = new Intl.Segmenter();

/** What a reader sees as one character, such as an emoji of several, stays whole. */
function initialsOf(name: string): string {
  const words = name.split(/[\s:._-]+/u).filter((word) => /[\p{L}\p{N}\p{Emoji}]/u.test(word));
  const [first = name, last] = words.length > 1 ? [words[0], words.at(-1)] : [words[0]];
  return [first, last]
    .map((word = '') => [...segments.segment(word)][0]?.segment ?? '')
    .join('')
    .toLocaleUpperCase();
}
