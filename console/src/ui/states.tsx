import type { ReactNode } from 'react';

interface StatesProps {
  readonly isLoading: boolean;
  readonly error: Error | null;
  readonly isEmpty: boolean;
  readonly empty: ReactNode;
  readonly onRetry: () => void;
  readonly children: ReactNode;
}

/** What stands where content will be: loading, failed, or nothing there. Content that is there stays under an error. */
export function States({ isLoading, error, isEmpty, empty, onRetry, children }: StatesProps): ReactNode {
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
      ) : isEmpty && error === null ? (
        <p className="empty">{empty}</p>
      ) : (
        children
      )}
    </>
  );
}
