import { useConnection } from '@fanfare/react';
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
        <div className="loading" role="status">
          Loading …
        </div>
      ) : isEmpty ? (
        error === null && <p className="empty">{empty}</p>
      ) : (
        children
      )}
    </>
  );
}
