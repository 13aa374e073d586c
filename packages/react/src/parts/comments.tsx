import { useId, useState, type ReactNode, type SyntheticEvent } from 'react';
import { useInteractions } from '../hooks/comments.ts';
import { useWords } from '../provider.tsx';
import { Time } from './item.tsx';

interface ComposerProps {
  readonly label: string;
  readonly onSend: (text: string) => Promise<void> | void;
  readonly children?: ReactNode;
}

/** A text and a button; Ctrl+Enter sends too. What cannot be sent stays. */
export function Composer({ label, onSend, children }: ComposerProps): ReactNode {
  const words = useWords();
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
          // Enter may choose a word of an input method. Safari ends composing before it says so, with this code alone.
          // oxlint-disable-next-line typescript/no-deprecated -- nothing else tells
          const isComposing = event.nativeEvent.isComposing || event.keyCode === 229;
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !isComposing) send(event);
        }}
      />
      <button type="submit">{children ?? words.send}</button>
    </form>
  );
}

/** The comments of an action, with what the reader is sending and what could not be sent. */
export function CommentThread({ actionId }: { readonly actionId: string }): ReactNode {
  const words = useWords();
  const { comments, drafts, status, error, hasNextPage, loadMore, send, dismiss } = useInteractions(actionId);
  return (
    // No landmark: there is one in each item.
    <div role="group" data-fanfare="comments" aria-label={words.comments} aria-busy={status === 'loading'}>
      <Composer label={words.writeComment} onSend={(text) => send(text)} />
      {error !== null && <p role="alert">{error.message}</p>}
      <ul>
        {drafts.map((draft) => (
          <li key={draft.key} data-draft={draft.error === null ? 'sending' : 'failed'}>
            <span dir="auto" data-fanfare="text">
              {draft.text}
            </span>
            {draft.error !== null && (
              <>
                <span role="alert">{draft.error.message}</span>
                <button type="button" onClick={() => void send(draft.text, draft.parentId, draft.key)}>
                  {words.sendAgain}
                </button>
                <button
                  type="button"
                  onClick={() => {
                    dismiss(draft.key);
                  }}
                >
                  {words.discard}
                </button>
              </>
            )}
          </li>
        ))}
        {comments.map((comment) => (
          <li key={comment.id} data-in-review={comment.state === 'HIDDEN' || undefined}>
            <strong dir="auto">{comment.actor.name}</strong>{' '}
            <span dir="auto" data-fanfare="text">
              {comment.text}
            </span>{' '}
            <Time at={comment.at} />
            {comment.state === 'HIDDEN' && <span data-fanfare="in-review"> {words.inReview}</span>}
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <button type="button" onClick={() => void loadMore()}>
          {words.earlierComments}
        </button>
      )}
    </div>
  );
}
