import type { ReactNode } from 'react';
import { hrefTo } from '../route.ts';
import { t } from '../words/language.ts';
import { nameIn } from './entry.tsx';
import { wordFor } from './words.ts';

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

/** Selection on FeedItemExplanation. */
export const WHY = 'isInFeed isEntitled path relevancy addressedBy { reason via } withheldBy causes { kind }';

/** The server's words as they are said; each stands beside what it came by. */
const ADDRESSED: Readonly<Record<string, string>> = {
  DEPARTMENT: 'is in the department of who did it',
  FOLLOW: 'follows',
  MENTION: 'is mentioned',
  PULL: 'follows, as very many do,',
  RECIPIENT: 'is a recipient',
  RESHARE: 'follows somebody who passed it on:',
  TEAM: 'is in the team of who did it',
};
const WITHHELD: Readonly<Record<string, string>> = {
  ARCHIVED: 'the reader has archived it',
  HIDDEN: 'a moderator has hidden it',
  HIDDEN_BY_READER: 'the reader has hidden it',
  MUTED: 'the reader mutes it',
  NOT_ADDRESSED: 'nothing brings it into this feed',
  NOT_ENTITLED: 'the reader may not see it',
  SNOOZED: 'the reader has put it off until later',
};
/** How an entry is read; what is stored is the rule, and needs no word. */
const PATHS: Readonly<Record<string, string>> = {
  PULLED: 'looked up for each reading, as the source has very many followers',
  SOURCE: 'read from the actions themselves',
};

interface Props {
  readonly why: Why;
  readonly action: Parameters<typeof nameIn>[0];
}

/** What brings it in, what keeps it out, what lifted it. The word of the API is the hint of each. */
export function Reasons({ why, action }: Props): ReactNode {
  const { isInFeed, addressedBy, withheldBy, path, causes } = why;
  const lifts = causes.filter(({ kind }) => kind !== 'CONDUCTED');
  return (
    <div className="why">
      <strong className="state" data-is={isInFeed ? 'good' : 'bad'}>
        {isInFeed ? 'In this feed' : 'Not in this feed'}
      </strong>
      <ul className="plain meta">
        {addressedBy.map(({ reason, via }) => (
          <li key={`${reason} ${via ?? ''}`} title={reason}>
            {`${isInFeed ? 'The reader' : 'Though the reader'} ${ADDRESSED[reason] ?? reason}`}{' '}
            {via !== null && (
              <a href={hrefTo('slice', via)} dir="auto">
                {nameIn(action, via)}
              </a>
            )}
          </li>
        ))}
        {withheldBy.map((word) => (
          <li key={word} title={word}>
            Because {WITHHELD[word] ?? word}
          </li>
        ))}
        {!isInFeed && withheldBy.length === 0 && <li>Not delivered yet</li>}
        {isInFeed && PATHS[path] !== undefined && <li title={path}>{PATHS[path]}</li>}
        {lifts.length > 0 && <li>Lifted by {lifts.map(({ kind }) => t(wordFor(kind))).join(', ')}</li>}
      </ul>
    </div>
  );
}
