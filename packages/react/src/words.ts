/** What the parts of every page say on their own, in English. `words` of the provider replaces all or some of it. */
export const ENGLISH = {
  like: 'Like',
  reshare: 'Reshare',
  rating: (value: number, max: number) => `${String(value)} of ${String(max)}`,
  bookmark: 'Bookmark',
  follow: 'Follow',
  following: 'Following',
  newItems: (count: number) => `${String(count)} new`,
  /** For a screen reader. */
  newItemsSaid: (count: number) => `${String(count)} new items`,
  unread: 'unread',
  unreadCount: (count: string) => `${count} unread`,
  loadMore: 'Load more',
  loadPrevious: 'Load newer',
  tryAgain: 'Try again',
  connecting: 'Connecting again …',
  connectionEnded: 'The connection has ended',
  tryNow: 'Try now',
  undo: 'Undo',
  done: {
    hide: 'Hidden',
    archive: 'Archived',
    unarchive: 'Back in the feed',
    snooze: 'Snoozed',
    mute: 'Muted',
    block: 'Blocked',
  },
};
