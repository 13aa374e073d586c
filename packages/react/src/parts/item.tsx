import type { ReactNode } from 'react';
import { useBookmark, useEngagement, useFollow } from '../hooks/item.ts';
import { useLanguage, useCommonWords } from '../provider.tsx';
import { useRelativeTime } from '../hooks/relative-time.ts';
import type { FanfareItem, SummaryPart } from '../item.ts';
import { summaryId } from './feed.tsx';

interface SummaryProps {
  readonly item: Pick<FanfareItem, 'action'>;
  /** The address of a person or a thing; undefined: no link. */
  readonly hrefOf?: ((part: SummaryPart) => string | undefined) | undefined;
}

/** The sentence of an action, in the direction of its words; the people and things it names are links, each in the direction of its own script. */
export function Summary({ item: { action }, hrefOf }: SummaryProps): ReactNode {
  return <Sentence id={summaryId(action.id)} parts={action.descriptor.summaryParts} hrefOf={hrefOf} />;
}

interface SentenceProps {
  readonly id: string;
  readonly parts: readonly SummaryPart[];
  readonly hrefOf: SummaryProps['hrefOf'];
}

export function Sentence({ id, parts, hrefOf }: SentenceProps): ReactNode {
  return (
    // By the first letter outside of what stands for itself: names do not count, even where the sentence begins with one.
    <p id={id} data-fanfare="summary" lang={useLanguage()} dir="auto">
      {parts.map((part, at) => {
        if (part.member === null && part.ref === null) return part.text;
        const href = hrefOf?.(part);
        return href === undefined ? (
          <bdi key={at}>{part.text}</bdi>
        ) : (
          <a key={at} href={href} dir="auto">
            {part.text}
          </a>
        );
      })}
    </p>
  );
}

/** When it happened, said as how long ago. */
export function Time({ at }: { readonly at: string }): ReactNode {
  return (
    <time dateTime={at} title={at} data-fanfare="time">
      {useRelativeTime(at)}
    </time>
  );
}

interface ReactionsProps {
  readonly actionId: string;
  /** Reactions to offer beside the like, such as "👏"; they must be configured in the server. */
  readonly reactions?: readonly string[];
  readonly onError?: (error: unknown) => void;
}

/** Like, reshare, bookmark and reactions of an action, as toggle buttons. */
export function Reactions({ actionId, reactions = [], onError }: ReactionsProps): ReactNode {
  const words = useCommonWords();
  const engagement = useEngagement(actionId);
  const bookmark = useBookmark(actionId);
  const { counts, mine } = engagement;
  if (counts === undefined || mine === undefined) return null;
  const toggle = (label: string, count: number, isOn: boolean, change: () => Promise<void>): ReactNode => (
    <button
      key={label}
      type="button"
      aria-pressed={isOn}
      data-fanfare="toggle"
      onClick={() => {
        change().catch((error: unknown) => onError?.(error));
      }}
    >
      {label}
      {count > 0 && <span data-fanfare="count"> {count}</span>}
    </button>
  );
  return (
    <div data-fanfare="reactions">
      {toggle(words.like, counts.likes, mine.hasLiked, mine.hasLiked ? engagement.unlike : engagement.like)}
      {reactions.map((reaction) =>
        toggle(
          reaction,
          counts.reactions.find((one) => one.reaction === reaction)?.count ?? 0,
          mine.reactions.includes(reaction),
          () => engagement.toggleReaction(reaction),
        ),
      )}
      {toggle(
        words.reshare,
        counts.reshares,
        mine.hasReshared,
        mine.hasReshared ? engagement.unreshare : engagement.reshare,
      )}
      {toggle(words.bookmark, 0, bookmark.isBookmarked, bookmark.toggle)}
    </div>
  );
}

export function FollowButton({ refId }: { readonly refId: string }): ReactNode {
  const words = useCommonWords();
  const { isFollowed, error, toggle } = useFollow(refId);
  return (
    <button
      type="button"
      data-fanfare="follow"
      aria-pressed={isFollowed ?? false}
      title={error?.message}
      disabled={isFollowed === undefined && error === null}
      onClick={() => void toggle()}
    >
      {isFollowed === true ? words.following : words.follow}
    </button>
  );
}
