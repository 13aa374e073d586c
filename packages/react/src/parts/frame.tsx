import { useEffect, useRef, type ReactNode } from 'react';
import { useConnection, useUnreadCount } from '../hooks/feed.ts';
import type { Undo } from '../hooks/item.ts';

/** How many are unread; nothing while none is. */
export function UnreadBadge(): ReactNode {
  const unread = useUnreadCount();
  if (unread === null || unread.count === 0) return null;
  const text = `${String(unread.count)}${unread.isExact ? '' : '+'}`;
  return (
    <span data-fanfare="unread-badge" role="img" aria-label={`${text} unread`}>
      {text}
    </span>
  );
}

interface ConnectionNoticeProps {
  /** What else helps once it has ended, such as signing in again. */
  readonly children?: ReactNode;
}

/** Says so while the connection is lost or has ended. */
export function ConnectionNotice({ children }: ConnectionNoticeProps): ReactNode {
  const { state, cause, retryNow } = useConnection();
  const isLost = state === 'waiting' || state === 'ended';
  return (
    <div role="status" data-fanfare="connection" data-state={state}>
      {isLost && (
        <>
          <span>
            {state === 'ended' ? (cause?.message ?? 'The connection has ended') : 'Connecting again …'}
          </span>
          <button type="button" onClick={retryNow}>
            Try now
          </button>
          {state === 'ended' && children}
        </>
      )}
    </div>
  );
}

const WORDS = { hide: 'Hidden', archive: 'Archived', unarchive: 'Back in the feed', snooze: 'Snoozed' };

interface UndoToastProps {
  readonly last: Undo | null;
  readonly onClose: () => void;
  readonly onError?: (error: unknown) => void;
  /** Default 8000. */
  readonly closeAfterMs?: number;
}

/** Offers to take the last action back for a while. */
export function UndoToast({ last, onClose, onError, closeAfterMs = 8_000 }: UndoToastProps): ReactNode {
  const close = useRef(onClose);
  useEffect(() => {
    close.current = onClose;
  });
  useEffect(() => {
    if (last === null) return undefined;
    // Rendered again, as a live list often is, it goes on.
    const timer = setTimeout(() => {
      close.current();
    }, closeAfterMs);
    return () => {
      clearTimeout(timer);
    };
  }, [last, closeAfterMs]);
  return (
    <div role="status" data-fanfare="undo">
      {last !== null && (
        <>
          <span>{WORDS[last.what]}</span>
          <button
            type="button"
            onClick={() => {
              onClose();
              last.undo().catch((error: unknown) => onError?.(error));
            }}
          >
            Undo
          </button>
        </>
      )}
    </div>
  );
}
