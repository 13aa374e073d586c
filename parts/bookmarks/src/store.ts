import {
  newestIndex,
  readerActions,
  type ReaderActionId,
} from '../../../src/storage/documents/reader-action-id.ts';

declare module '../../../src/storage/documents/declaration.ts' {
  interface Documents {
    readonly bookmarks: { _id: ReaderActionId; at: Date };
  }
}

export const BOOKMARKS = readerActions('bookmarks', {
  holds: 'an action that a reader has bookmarked',
  indexes: [newestIndex("a reader's bookmarks, newest first; erasure and export")],
  serves: 'the bookmarks of a reader',
  entry: ({ at }) => ({ at }),
});
