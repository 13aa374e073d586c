import type { Interaction } from '@fanfare/client';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useInteractions } from '../hooks/comments.ts';
import { useWords } from '../hooks/words.ts';
import type { Draft } from '../store/comments.ts';
import { Avatar } from './avatar.tsx';
import { Composer } from './composer.tsx';
import { leaveBefore } from './focus-outside.ts';
import { Time } from './item.tsx';

type Thread = ReturnType<typeof useInteractions>;

interface ThreadProps {
  readonly actionId: string;
  /** False: nobody is looked for after an @. Default true. */
  readonly withMentions?: boolean;
  /** The first comments are there, or why there are none. */
  readonly onReady?: () => void;
}

/**
 * The comments of an action with their replies, what the reader is sending and what could not be sent. What is the reader's own can be
 * edited and deleted.
 */
export function CommentThread({ actionId, withMentions = true, onReady }: ThreadProps): ReactNode {
  const words = useWords();
  const thread = useInteractions(actionId);
  const { comments, drafts, status, error, hasNextPage, loadMore, send } = thread;
  const isReady = status === 'ready' || status === 'error';
  useEffect(() => {
    if (isReady) onReady?.();
    // Once, however often the function changes.
  }, [isReady]);
  const known = new Set(comments.map(({ id }) => id));
  // What a reply belongs to may not be loaded yet: it stands alone until then.
  const isUnder = (parentId: string | null | undefined, id: string | null): boolean =>
    (parentId != null && known.has(parentId) ? parentId : null) === id;
  const listOf = (under: string | null): ReactNode => {
    const shown = comments.filter(({ parentId }) => isUnder(parentId, under));
    const mine = drafts.filter(({ parentId }) => isUnder(parentId, under));
    if (under !== null && shown.length + mine.length === 0) return null;
    return (
      <ul>
        {mine.map((draft) => (
          <Unsent key={draft.key} {...{ draft, thread }} />
        ))}
        {shown.map((comment) => (
          <Comment key={comment.id} {...{ comment, thread, withMentions }}>
            {listOf(comment.id)}
          </Comment>
        ))}
      </ul>
    );
  };
  return (
    // No landmark: there is one in each item.
    <div role="group" data-fanfare="comments" aria-label={words.comments} aria-busy={status === 'loading'}>
      <Composer
        {...{ label: words.writeComment, withMentions }}
        onSend={(text, mentions) => send(text, { mentions })}
      />
      {error !== null && <p role="alert">{error.message}</p>}
      {listOf(null)}
      {hasNextPage && (
        <button type="button" data-fanfare="load-more" onClick={() => void loadMore()}>
          {words.earlierComments}
        </button>
      )}
    </div>
  );
}

interface CommentProps {
  readonly comment: Interaction;
  readonly thread: Thread;
  readonly withMentions: boolean;
  /** Its replies. */
  readonly children: ReactNode;
}

function Comment({ comment, thread, withMentions, children }: CommentProps): ReactNode {
  const words = useWords();
  const [open, setOpen] = useState<'reply' | 'edit' | null>(null);
  /** An edit that failed. */
  const [unsaved, setUnsaved] = useState<string | null>(null);
  const { id, actor, text, at, editedAt, parentId, state } = comment;
  const isMine = actor.memberId === thread.me;
  const close = (): void => setOpen(null);
  const save = async (edited: string): Promise<void> => {
    close();
    setUnsaved(null);
    try {
      await thread.edit(id, edited);
    } catch {
      setUnsaved(edited);
      setOpen('edit');
    }
  };
  const element = useRef<HTMLLIElement>(null);
  const wasOpen = useRef(false);
  useEffect(() => {
    // What was written in is gone, and with it the focus.
    if (open === null && wasOpen.current)
      element.current
        ?.querySelector<HTMLElement>('[data-fanfare="comment-actions"] button')
        ?.focus({ preventScroll: true });
    wasOpen.current = open !== null;
  }, [open]);
  const button = (label: string, press: (button: HTMLElement) => void): ReactNode => (
    <button type="button" data-fanfare="toggle" onClick={({ currentTarget }) => press(currentTarget)}>
      {label}
    </button>
  );
  return (
    <li ref={element} data-in-review={state === 'HIDDEN' || undefined}>
      <Avatar id={actor.memberId} name={actor.name} src={actor.imageUrl} />
      <div>
        <strong dir="auto">{actor.name}</strong> <Time at={at} />
        {editedAt !== null && <span data-fanfare="time"> · {words.edited}</span>}
        {state === 'HIDDEN' && <span data-fanfare="in-review"> {words.inReview}</span>}
        {open === 'edit' ? (
          <Composer
            {...{ label: words.editComment, initial: unsaved ?? text ?? '', withMentions: false }}
            onCancel={close}
            onSend={save}
          >
            {words.save}
          </Composer>
        ) : (
          <p dir="auto" data-fanfare="text">
            {text}
          </p>
        )}
        {open === null && (
          <div data-fanfare="comment-actions">
            {parentId === null && button(words.reply, () => setOpen('reply'))}
            {isMine && button(words.edit, () => setOpen('edit'))}
            {isMine &&
              button(words.remove, (pressed) => {
                leaveBefore(pressed);
                void thread.remove(id);
              })}
          </div>
        )}
        {open === 'reply' && (
          <Composer
            {...{ label: words.replyTo(actor.name), withMentions }}
            onCancel={close}
            onSend={(said, mentions) => {
              close();
              return thread.send(said, { parentId: id, mentions });
            }}
          >
            {words.reply}
          </Composer>
        )}
        {children}
      </div>
    </li>
  );
}

/** What is on its way, or did not get there. */
function Unsent({ draft, thread }: { readonly draft: Draft; readonly thread: Thread }): ReactNode {
  const words = useWords();
  const { key, text, parentId, mentions, error } = draft;
  return (
    <li data-draft={error === null ? 'sending' : 'failed'}>
      <span dir="auto" data-fanfare="text">
        {text}
      </span>
      {error !== null && (
        <>
          <span role="alert">{error.message}</span>
          <button
            type="button"
            onClick={({ currentTarget }) => {
              leaveBefore(currentTarget);
              void thread.send(text, { parentId, mentions, key });
            }}
          >
            {words.sendAgain}
          </button>
          <button
            type="button"
            onClick={({ currentTarget }) => {
              leaveBefore(currentTarget);
              thread.dismiss(key);
            }}
          >
            {words.discard}
          </button>
        </>
      )}
    </li>
  );
}
