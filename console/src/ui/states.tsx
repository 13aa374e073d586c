import { useConnection } from '@fanfare/react';
import type { LucideIcon } from 'lucide-react';
import { useEffect, useRef, type ReactNode } from 'react';

interface StatesProps {
  readonly isLoading: boolean;
  readonly error: Error | null;
  readonly isEmpty: boolean;
  readonly empty: ReactNode;
  readonly onRetry: () => void;
  readonly children: ReactNode;
}

/**
 * What stands where content will be: loading, failed, or nothing there. Content that is there stays under an error; where there
 * is none, an error stands alone. What failed while the server was away is asked for again when it is back.
 */
export function States({ isLoading, error, isEmpty, empty, onRetry, children }: StatesProps): ReactNode {
  const isLive = useConnection().state === 'live';
  const again = useRef<(() => void) | null>(null);
  useEffect(() => {
    again.current = error === null ? null : onRetry;
  });
  useEffect(() => {
    if (isLive) again.current?.();
  }, [isLive]);
  return (
    <>
      {error !== null && (
        <p role="alert" className="alert">
          {error.message}{' '}
          <button type="button" onClick={onRetry}>
            Try again
          </button>
        </p>
      )}
      {isLoading && error === null ? (
        <div className="loading" role="status" aria-label="Loading" />
      ) : isEmpty ? (
        error === null && <div className="empty">{empty}</div>
      ) : (
        children
      )}
    </>
  );
}

interface TeachProps {
  readonly icon: LucideIcon;
  readonly title: string;
  /** One line that makes something to be seen here. */
  readonly code?: string;
  readonly children: ReactNode;
}

/** What a screen is for, while it has nothing to show. */
export function Teach({ icon: Icon, title, code, children }: TeachProps): ReactNode {
  return (
    <>
      <Icon aria-hidden="true" />
      <strong>{title}</strong>
      <span>{children}</span>
      {code !== undefined && (
        <pre tabIndex={0}>
          <code>{code}</code>
        </pre>
      )}
    </>
  );
}
