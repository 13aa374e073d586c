import { useEffect, useRef, useSyncExternalStore, type ReactNode } from 'react';
import { useConnection, useUnreadCount } from '../hooks/feed.ts';
import { useReader, useCommonWords } from '../provider.tsx';
import { useLatest } from '../hooks/latest.ts';
import type { Undo } from '../store/undos.ts';
import { leaveBefore } from './focus-outside.ts';

/** How many are unread; nothing while none is. */
export function UnreadBadge(): ReactNode {
  const unread = useUnreadCount();
  const words = useCommonWords();
  if (unread === null || unread.count === 0) return null;
  const text = `${String(unread.count)}${unread.isExact ? '' : '+'}`;
  return (
    <span data-fanfare="unread-badge" role="img" aria-label={words.unreadCount(text)}>
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
  const words = useCommonWords();
  const isLost = state === 'waiting' || state === 'ended';
  return (
    <div role="status" data-fanfare="connection" data-state={state}>
      {isLost && (
        <>
          <span>{state === 'ended' ? (cause?.message ?? words.connectionEnded) : words.connecting}</span>
          <button
            type="button"
            onClick={({ currentTarget }) => {
              leaveBefore(currentTarget);
              retryNow();
            }}
          >
            {words.tryNow}
          </button>
          {state === 'ended' && children}
        </>
      )}
    </div>
  );
}

interface UndoToastProps {
  /** Absent: what the reader has done last, anywhere on the page. */
  readonly last?: Undo | null;
  readonly onClose?: () => void;
  readonly onError?: (error: unknown) => void;
  /** Default 8000. */
  readonly closeAfterMs?: number;
}

/** Offers to take the last action back for a while. */
export function UndoToast({
  last: given,
  onClose,
  onError,
  closeAfterMs = 8_000,
}: UndoToastProps): ReactNode {
  const { undos } = useReader();
  const latest = useSyncExternalStore(undos.subscribe, undos.getSnapshot, () => null);
  const last = given === undefined ? latest : given;
  const closed = (): void => {
    if (given === undefined) undos.set(null);
    onClose?.();
  };
  const words = useCommonWords();
  const close = useLatest(closed);
  const toast = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (last === null) return undefined;
    // Rendered again, as a live list often is, it goes on. It stays for who is at it.
    const timer = setInterval(() => {
      if (toast.current?.matches(':hover, :focus-within') !== true) close.current();
    }, closeAfterMs);
    return () => {
      clearInterval(timer);
    };
  }, [last, closeAfterMs]);
  return (
    <div ref={toast} role="status" data-fanfare="undo">
      {last !== null && (
        <>
          <span>{words.done[last.what]}</span>
          <button
            type="button"
            onClick={({ currentTarget }) => {
              leaveBefore(currentTarget);
              closed();
              last.undo().catch((error: unknown) => onError?.(error));
            }}
          >
            {words.undo}
          </button>
        </>
      )}
    </div>
  );
}
