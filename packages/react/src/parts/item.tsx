import { useId, useState, type ReactNode, type SyntheticEvent } from 'react';
import { useBookmark, useEngagement, useFollow, useInteractions } from '../hooks/item.ts';
import { useRelativeTime } from '../hooks/relative-time.ts';
import type { FanfareItem, SummaryPart } from '../item.ts';
import { summaryId } from './feed.tsx';

interface SummaryProps {
  readonly item: Pick<FanfareItem, 'action'>;
  /** The address of a person or a thing; undefined: no link. */
  readonly hrefOf?: (part: SummaryPart) => string | undefined;
}

/** The sentence of an action; the people and things it names are links. */
export function Summary({ item: { action }, hrefOf }: SummaryProps): ReactNode {
  return (
    <p id={summaryId(action.id)} data-fanfare="summary">
      {action.descriptor.summaryParts.map((part, at) => {
        const href = part.member === null && part.ref === null ? undefined : hrefOf?.(part);
        return href === undefined ? (
          <span key={at}>{part.text}</span>
        ) : (
          <a key={at} href={href}>
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
  const engagement = useEngagement(actionId);
  const bookmark = useBookmark(actionId);
  const { counts, mine } = engagement;
  if (counts === undefined || mine === undefined) return null;
  const toggle = (
    label: string,
    count: number | null,
    isOn: boolean,
    change: () => Promise<void>,
  ): ReactNode => (
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
      {count !== null && count > 0 && <span data-fanfare="count"> {count}</span>}
    </button>
  );
  return (
    <div data-fanfare="reactions">
      {toggle('Like', counts.likes, mine.hasLiked, mine.hasLiked ? engagement.unlike : engagement.like)}
      {reactions.map((reaction) =>
        toggle(
          reaction,
          counts.reactions.find((one) => one.reaction === reaction)?.count ?? 0,
          mine.reactions.includes(reaction),
          () => engagement.toggleReaction(reaction),
        ),
      )}
      {toggle(
        'Reshare',
        counts.reshares,
        mine.hasReshared,
        mine.hasReshared ? engagement.unreshare : engagement.reshare,
      )}
      {toggle('Bookmark', null, bookmark.isBookmarked, bookmark.toggle)}
    </div>
  );
}

interface ComposerProps {
  readonly label: string;
  readonly onSend: (text: string) => Promise<void> | void;
  readonly children?: ReactNode;
}

/** A text and a button; Ctrl+Enter sends too. What cannot be sent stays. */
export function Composer({ label, onSend, children = 'Send' }: ComposerProps): ReactNode {
  const [text, setText] = useState('');
  const id = useId();
  const send = (event: SyntheticEvent): void => {
    event.preventDefault();
    const trimmed = text.trim();
    if (trimmed === '') return;
    setText('');
    void Promise.resolve(onSend(trimmed)).catch(() => {
      setText((now) => (now === '' ? trimmed : now));
    });
  };
  return (
    <form data-fanfare="composer" onSubmit={send}>
      <label htmlFor={id} data-visually-hidden>
        {label}
      </label>
      <textarea
        id={id}
        rows={1}
        placeholder={label}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send(event);
        }}
      />
      <button type="submit">{children}</button>
    </form>
  );
}

/** The comments of an action, with what the reader is sending and what could not be sent. */
export function CommentThread({ actionId }: { readonly actionId: string }): ReactNode {
  const { comments, drafts, status, error, hasNextPage, loadMore, send, dismiss } = useInteractions(actionId);
  return (
    // No landmark: there is one in each item.
    <div role="group" data-fanfare="comments" aria-label="Comments" aria-busy={status === 'loading'}>
      <Composer label="Write a comment" onSend={(text) => send(text)} />
      {error !== null && <p role="alert">{error.message}</p>}
      <ul>
        {drafts.map((draft) => (
          <li key={draft.key} data-draft={draft.error === null ? 'sending' : 'failed'}>
            <span>{draft.text}</span>
            {draft.error !== null && (
              <>
                <span role="alert">{draft.error.message}</span>
                <button type="button" onClick={() => void send(draft.text, draft.parentId, draft.key)}>
                  Send again
                </button>
                <button
                  type="button"
                  onClick={() => {
                    dismiss(draft.key);
                  }}
                >
                  Discard
                </button>
              </>
            )}
          </li>
        ))}
        {comments.map((comment) => (
          <li key={comment.id}>
            <strong>{comment.actor.name}</strong> <span>{comment.text}</span> <Time at={comment.at} />
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <button type="button" onClick={() => void loadMore()}>
          Earlier comments
        </button>
      )}
    </div>
  );
}

export function FollowButton({ refId }: { readonly refId: string }): ReactNode {
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
      {isFollowed === true ? 'Following' : 'Follow'}
    </button>
  );
}
