import type { ReactNode } from 'react';

/** Why an action is in a feed or not, as the server explains it. */
export interface Why {
  readonly isInFeed: boolean;
  readonly isEntitled: boolean;
  readonly path: string;
  readonly relevancy: string | null;
  readonly addressedBy: readonly { readonly reason: string; readonly via: string | null }[];
  readonly withheldBy: readonly string[];
  readonly causes: readonly { readonly kind: string }[];
}

/** What has lifted an action in a feed since it happened, as it is said. */
export function liftsOf({ causes }: Pick<Why, 'causes'>): string[] {
  return causes
    .filter(({ kind }) => kind !== 'CONDUCTED')
    .map(({ kind }) => kind.toLowerCase().replaceAll('_', ' '));
}

/** The words of the server, for who does not know them. */
const WORDS: Readonly<Record<string, string>> = {
  DEPARTMENT: 'the reader is in the department of who did it',
  FOLLOW: 'the reader follows who did it, or something it is about',
  MENTION: 'it mentions the reader',
  PULL: 'the reader follows something with very many followers',
  RECIPIENT: 'it is addressed to the reader',
  RESHARE: 'somebody whom the reader follows passed it on',
  TEAM: 'the reader is in the team of who did it',
  ARCHIVED: 'the reader has archived it',
  HIDDEN: 'a moderator has hidden it',
  HIDDEN_BY_READER: 'the reader has hidden it',
  MUTED: 'the reader mutes it',
  NOT_ADDRESSED: 'nothing brings it into this feed',
  NOT_ENTITLED: 'the reader may not see it',
  SNOOZED: 'the reader has put it off until later',
};

/** What the words that are shown mean. */
export function Glossary({ of }: { readonly of: readonly Why[] }): ReactNode {
  const said = of.flatMap(({ addressedBy, withheldBy }) => [
    ...addressedBy.map(({ reason }) => reason),
    ...withheldBy,
  ]);
  const words = [...new Set(said)].filter((word) => WORDS[word] !== undefined).sort();
  return (
    <dl className="words">
      {words.map((word) => (
        <div key={word}>
          <dt>{word}</dt>
          <dd>{WORDS[word]}</dd>
        </div>
      ))}
    </dl>
  );
}
