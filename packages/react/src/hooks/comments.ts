import { useSyncExternalStore } from 'react';
import { useProvided } from '../provider.tsx';
import { commentsOf, type CommentsSnapshot } from '../store/comments.ts';

/** Comments of an action. They are loaded when this is mounted. */
export function useInteractions(actionId: string): CommentsSnapshot & {
  readonly loadMore: () => Promise<void>;
  /** A text that could not be sent stays in `drafts`; sent again with its key it is recorded once. */
  readonly send: (text: string, parentId?: string, key?: string) => Promise<void>;
  readonly dismiss: (key: string) => void;
  readonly remove: (id: string) => Promise<void>;
} {
  const { reader, isEnabled } = useProvided();
  const store = commentsOf(reader, actionId);
  const snapshot = useSyncExternalStore(
    isEnabled ? store.use : store.subscribe,
    store.getSnapshot,
    store.getSnapshot,
  );
  const { loadMore, send, dismiss, remove } = store;
  return { ...snapshot, loadMore, send, dismiss, remove };
}
