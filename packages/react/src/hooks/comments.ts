import { useSyncExternalStore } from 'react';
import { useProvided } from '../provider.tsx';
import { commentsOf, type CommentsSnapshot, type SendOptions } from '../store/comments.ts';

/** Comments of an action. They are loaded when this is mounted. */
export function useInteractions(actionId: string): CommentsSnapshot & {
  readonly loadMore: () => Promise<void>;
  /** A text that could not be sent stays in `drafts`; sent again with its key it is recorded once. */
  readonly send: (text: string, options?: SendOptions) => Promise<void>;
  /** Shown at once; taken back and rejected if it fails. */
  readonly edit: (id: string, text: string) => Promise<void>;
  readonly dismiss: (key: string) => void;
  readonly remove: (id: string) => Promise<void>;
} {
  const { reader, isEnabled } = useProvided();
  const store = commentsOf(reader, actionId);
  const snapshot = useSyncExternalStore(
    isEnabled ? store.use : store.subscribe,
    store.getSnapshot,
    store.getServerSnapshot,
  );
  const { loadMore, send, edit, dismiss, remove } = store;
  return { ...snapshot, loadMore, send, edit, dismiss, remove };
}
