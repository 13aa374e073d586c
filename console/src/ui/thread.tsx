import '../later.css';
import { Avatar } from '@fanfare/react';
import { Composer, useInteractions } from '@fanfare/react/more';
import { useState, type ReactNode } from 'react';
import { Time } from './time.tsx';

/** The comments of an action: a reply stands under what it replies to, and each has a box to reply. */
export function Thread({ actionId }: { readonly actionId: string }): ReactNode {
  const { comments, drafts, status, error, hasNextPage, loadMore, send, dismiss } = useInteractions(actionId);
  const [replyTo, setReplyTo] = useState<string | null>(null);
  const known = new Set(comments.map(({ id }) => id));
  // An earlier comment may not be loaded yet: its reply stands alone until then.
  const isUnder = (parentId: string | null | undefined, id: string | null): boolean =>
    (parentId != null && known.has(parentId) ? parentId : null) === id;
  const listOf = (parentId: string | null): ReactNode => {
    const shown = comments.filter((one) => isUnder(one.parentId, parentId));
    const mine = drafts.filter((one) => isUnder(one.parentId, parentId));
    if (parentId !== null && shown.length + mine.length === 0) return null;
    return (
      <ul className="plain">
        {mine.map((draft) => (
          <li key={draft.key} data-draft={draft.error === null ? 'sending' : 'failed'}>
            <Avatar id="" name="…" />
            <div>
              <p dir="auto" data-fanfare="text">
                {draft.text}
              </p>
              {draft.error !== null && (
                <p className="buttons">
                  <span role="alert">{draft.error.message}</span>
                  <button type="button" onClick={() => void send(draft.text, draft)}>
                    Send again
                  </button>
                  <button type="button" onClick={() => dismiss(draft.key)}>
                    Discard
                  </button>
                </p>
              )}
            </div>
          </li>
        ))}
        {shown.map(({ id, actor, at, text, state }) => (
          <li key={id}>
            <Avatar id={actor.memberId} name={actor.name} />
            <div>
              <p className="meta">
                <strong dir="auto">{actor.name}</strong> <Time at={at} />
                {state === 'HIDDEN' && ' · Waiting for review'}
              </p>
              <p dir="auto" data-fanfare="text">
                {text}
              </p>
              {replyTo === id ? (
                <Composer
                  label={`Reply to ${actor.name}`}
                  onSend={(said, mentions) => {
                    setReplyTo(null);
                    return send(said, { parentId: id, mentions });
                  }}
                >
                  Reply
                </Composer>
              ) : (
                <div className="quiet-buttons">
                  <button type="button" onClick={() => setReplyTo(id)}>
                    Reply
                  </button>
                </div>
              )}
              {listOf(id)}
            </div>
          </li>
        ))}
      </ul>
    );
  };
  return (
    <div role="group" data-fanfare="comments" aria-label="Comments" aria-busy={status === 'loading'}>
      {error !== null && (
        <p role="alert" className="alert">
          {error.message}
        </p>
      )}
      {listOf(null)}
      {hasNextPage && (
        <button type="button" onClick={() => void loadMore()}>
          Earlier comments
        </button>
      )}
      {/* Below what is awaited it would be pushed down when that comes. */}
      {status !== 'loading' && (
        <Composer label="Write a comment" onSend={(text, mentions) => send(text, { mentions })} />
      )}
    </div>
  );
}
