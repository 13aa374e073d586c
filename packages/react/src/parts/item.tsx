import type { ReactNode } from 'react';
import { useBookmark, useEngagement } from '../hooks/engagement.ts';
import { useLanguage, useCommonWords } from '../provider.tsx';
import { useRelativeTime } from '../hooks/relative-time.ts';
import type { FanfareItem, SummaryPart } from '../item.ts';
import { summaryId } from './feed.tsx';
import { Icon, type Shape } from './icon.tsx';

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
  /** What the comments are shown with, such as a `CommentThread` below; absent: they have no button. */
  readonly comments?: { readonly isOpen: boolean; readonly toggle: () => void };
  readonly onError?: (error: unknown) => void;
  /** What else stands in the row, such as an `ItemMenu`. */
  readonly children?: ReactNode;
}

/** Like, comments, reshare, bookmark and reactions of an action, as toggle buttons with what others did. */
export function Reactions({
  actionId,
  reactions = [],
  comments,
  onError,
  children,
}: ReactionsProps): ReactNode {
  const words = useCommonWords();
  const { counts, mine, ...engagement } = useEngagement(actionId);
  const bookmark = useBookmark(actionId);
  if (counts === undefined || mine === undefined) return null;
  const toggle = (
    label: string,
    count: number,
    press: () => unknown,
    state: { 'aria-pressed': boolean } | { 'aria-expanded': boolean },
    icon?: Shape,
  ): ReactNode => (
    <button
      key={label}
      type="button"
      data-fanfare="toggle"
      title={icon && label}
      {...state}
      onClick={() => {
        Promise.resolve(press()).catch((error: unknown) => onError?.(error));
      }}
    >
      {icon && <Icon of={icon} />}
      <span data-visually-hidden={icon && ''}>{label}</span>
      {count > 0 && <span data-fanfare="count"> {count}</span>}
    </button>
  );
  const { hasLiked, hasReshared } = mine;
  const { isBookmarked } = bookmark;
  return (
    <div data-fanfare="reactions">
      {toggle(
        words.like,
        counts.likes,
        hasLiked ? engagement.unlike : engagement.like,
        { 'aria-pressed': hasLiked },
        'like',
      )}
      {reactions.map((reaction) =>
        toggle(
          reaction,
          counts.reactions.find((one) => one.reaction === reaction)?.count ?? 0,
          () => engagement.toggleReaction(reaction),
          { 'aria-pressed': mine.reactions.includes(reaction) },
        ),
      )}
      {comments &&
        toggle(
          words.comments,
          counts.comments,
          comments.toggle,
          { 'aria-expanded': comments.isOpen },
          'comments',
        )}
      {toggle(
        words.reshare,
        counts.reshares,
        hasReshared ? engagement.unreshare : engagement.reshare,
        { 'aria-pressed': hasReshared },
        'reshare',
      )}
      {toggle(words.bookmark, 0, bookmark.toggle, { 'aria-pressed': isBookmarked }, 'bookmark')}
      {children}
    </div>
  );
}
