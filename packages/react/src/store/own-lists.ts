import type { FeedClient, FeedOrder, ReaderList, UnreadCount } from '@fanfare/client';
import { LISTS, LISTS_OF, VIEWS } from '../more-documents.ts';
import { answerOf, type Answer } from './answers.ts';
import { nodeOf, type Of } from './standings.ts';

// Views of the configuration and lists of the reader: not what every page needs.

/** A view of the server's configuration. */
export interface CountedView {
  /** What `useFeed({ view })` takes. */
  readonly name: string;
  readonly label: string;
  /** To be shown by `useFeedGroups`. */
  readonly isGrouped: boolean;
  /** Null: the server ranks it. */
  readonly order: FeedOrder | null;
  readonly unread: UnreadCount;
}

interface Viewed {
  readonly viewer: { readonly views: readonly CountedView[] };
}

export function viewsAnswer(reader: Of): Answer<Viewed> {
  return answerOf<Viewed>(reader, VIEWS);
}

/** A list of what the reader follows, with its unread items. */
export interface CountedList extends ReaderList {
  readonly unread: UnreadCount;
}

interface Listed {
  readonly viewer: { readonly lists: readonly CountedList[] };
}

export function listsAnswer(reader: Of): Answer<Listed> {
  return answerOf<Listed>(reader, LISTS);
}

interface ListsOf {
  readonly node: { readonly follow: { readonly listIds: readonly string[] } | null } | null;
}

/** The lists that a ref is in. */
export function listsOfAnswer(reader: Of, refId: string): Answer<ListsOf> {
  return answerOf<ListsOf>(reader, LISTS_OF, { id: nodeOf(refId) });
}

export async function setInList(of: Of, listId: string, refId: string, isIn: boolean): Promise<void> {
  const { addToList, removeFromList } = of.client.mutations;
  await listsOfAnswer(of, refId).write(
    (data) => {
      const others = data?.node?.follow?.listIds.filter((id) => id !== listId) ?? [];
      return { node: { follow: { listIds: isIn ? [...others, listId] : others } } };
    },
    () => (isIn ? addToList : removeFromList)({ id: listId, refIds: [refId] }),
  );
  void listsAnswer(of).reload();
}

/** Changes the lists on the server, and shows them as they are then. */
export async function changeLists<Result>(
  of: Of,
  change: (mutations: FeedClient['mutations']) => Promise<Result>,
): Promise<Result> {
  const result = await change(of.client.mutations);
  await listsAnswer(of).reload();
  return result;
}
