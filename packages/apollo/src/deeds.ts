import { gql, type ApolloCache, type TypedDocumentNode } from '@apollo/client';
import {
  deedOf,
  inReviewIn,
  unknownFields,
  without,
  withFirst,
  type cacheDocuments,
  type CachedAction,
  type CachedComment,
  type CacheSource,
  type Deeds,
  type ListAnswer,
  type Sent,
} from '@fanfare/client/cache';
import { sent, type Parts } from './lists.ts';

type Documents = ReturnType<typeof cacheDocuments>;

/** What deeds change. */
const COUNTS: TypedDocumentNode<CachedAction> = gql`
  fragment Counts on Action {
    id
    engagement {
      likes
      comments
    }
    viewer {
      hasLiked
      isBookmarked
    }
  }
`;
const COMMENTED: TypedDocumentNode<CachedComment> = gql`
  fragment Commented on Interaction {
    action {
      id
    }
  }
`;

/** How a deed is shown. */
interface Shown {
  /** On top of all that is shown: called again when that is another. */
  readonly show: (cache: ApolloCache) => void;
  /** Beyond the objects of the answer. */
  readonly confirm?: (cache: ApolloCache, data: never) => void;
}

/** @returns what a reader does, shown at once and, as everything else they change, sent when its turn has come */
export function deedsOf(parts: Parts, documents: Documents): ReturnType<CacheSource['waiting']['perform']> {
  const { source } = parts;
  const { cache } = parts.client;
  const shownOf = looksOf(documents);
  /** What is shown without being confirmed. */
  const open = new Set<string>();
  /** In one step: what is shown never has it twice, nor without it. */
  const confirm = ({ id, name, variables }: Sent, data: unknown): void => {
    const deed = deedOf({ name, variables });
    if (deed === undefined || !open.delete(id)) return;
    cache.batch({
      removeOptimistic: id,
      optimistic: false,
      update(changed) {
        const query = gql(documents[deed]);
        changed.write({ dataId: 'ROOT_MUTATION', query, variables, result: data as object });
        shownOf(deed, variables, id).confirm?.(changed, data as never);
        changed.evict({ id: 'ROOT_MUTATION' });
      },
    });
  };
  return source.waiting.perform({
    send: (write) =>
      source.during(async () => {
        const deed = deedOf(write) ?? 'like';
        const data = await source.request<object>(sent(parts, documents[deed]), write.variables);
        confirm(write, data);
        return data;
      }),
    async show(write) {
      const { id, name, variables, done } = write;
      const deed = deedOf({ name, variables });
      if (deed === undefined) return;
      open.add(id);
      cache.recordOptimisticTransaction(shownOf(deed, variables, id).show, id);
      try {
        // Another tab may have sent it.
        confirm(write, await done);
      } catch (error) {
        open.delete(id);
        cache.removeOptimistic(id);
        throw error;
      }
    },
    actionOf: (id) => fragmentOf(cache, COMMENTED, 'Interaction', id)?.action.id,
  });
}

type Looks = (deed: keyof Deeds, variables: Sent['variables'], id: string) => Shown;

function looksOf(documents: Documents): Looks {
  const row: TypedDocumentNode<CachedAction> = gql(documents.row);
  const said: TypedDocumentNode<CachedComment> = gql(documents.said);
  const queries: Record<'bookmarks' | 'comments', TypedDocumentNode<ListAnswer>> = {
    ...{ bookmarks: gql(documents.bookmarks), comments: gql(documents.comments) },
  };
  const liked = (id: string, hasLiked: boolean): Shown => ({
    show: (shown) =>
      changeCounts(shown, id, ({ engagement, viewer, ...action }) => {
        const likes = engagement.likes + Number(hasLiked) - Number(viewer.hasLiked);
        return { ...action, engagement: { ...engagement, likes }, viewer: { ...viewer, hasLiked } };
      }),
  });
  const setBookmarked = (shown: ApolloCache, id: string, isBookmarked: boolean): void =>
    changeCounts(shown, id, (action) => ({ ...action, viewer: { ...action.viewer, isBookmarked } }));
  const changeBookmarks = (shown: ApolloCache, change: (list: Rows) => Rows): void =>
    changeList(shown, queries.bookmarks, {}, change);
  const changeComments = (shown: ApolloCache, actionId: string, change: (list: Rows) => Rows): void =>
    changeList(shown, queries.comments, { actionId }, change);
  const changeInReview = (
    shown: ApolloCache,
    actionId: string,
    change: (list: readonly CachedComment[]) => readonly CachedComment[],
  ): void => {
    shown.updateQuery({ query: queries.comments, variables: { actionId } }, (answer) => {
      if (answer?.action == null) return undefined;
      const { action } = answer;
      const commentsInReview = change(inReviewIn(answer));
      return { ...answer, action: { ...action, viewer: { ...action.viewer, commentsInReview } } };
    });
  };
  const bookmarked = (id: string): Shown => ({
    show(shown) {
      setBookmarked(shown, id, true);
      const action = fragmentOf(shown, row, 'Action', id);
      if (action !== undefined) changeBookmarks(shown, (list) => withFirst(list, 'ActionEdge', action));
    },
    confirm: (changed, { bookmark }: { readonly bookmark: CachedAction }) =>
      changeBookmarks(changed, (list) => withFirst(list, 'ActionEdge', bookmark)),
  });
  const unbookmarked = (id: string): Shown => ({
    show(shown) {
      setBookmarked(shown, id, false);
      changeBookmarks(shown, (list) => without(list, id));
    },
    confirm: (changed) => changeBookmarks(changed, (list) => without(list, id)),
  });
  const commented = (actionId: string, text: string, of: string): Shown => {
    const at = new Date().toISOString();
    const action = { __typename: 'Action', id: actionId } as const;
    const comment = {
      ...unknownFields(said),
      ...({ __typename: 'Interaction', id: `sending-${of}`, text, at, state: 'VISIBLE', action } as const),
    };
    return {
      show(shown) {
        countComment(shown, actionId, 1);
        changeComments(shown, actionId, (list) => withFirst(list, 'InteractionEdge', comment));
      },
      confirm: (changed, { addInteraction: { interaction } }: { readonly addInteraction: Added }) =>
        interaction.state === 'VISIBLE'
          ? changeComments(changed, actionId, (list) => withFirst(list, 'InteractionEdge', interaction))
          : changeInReview(changed, actionId, (list) => [interaction, ...list]),
    };
  };
  const uncommented = (id: string): Shown => {
    const removeFrom = (shown: ApolloCache, actionId: string): void => {
      changeComments(shown, actionId, (list) => without(list, id));
      changeInReview(shown, actionId, (list) => list.filter((one) => one.id !== id));
    };
    return {
      show(shown) {
        const actionId = fragmentOf(shown, COMMENTED, 'Interaction', id)?.action.id;
        if (actionId === undefined) return;
        countComment(shown, actionId, -1);
        removeFrom(shown, actionId);
      },
      confirm: (changed, { removeInteraction: { action } }: { readonly removeInteraction: Removed }) =>
        removeFrom(changed, action.id),
    };
  };
  return (deed, variables, of) => {
    const { actionId = '', input } = variables as { readonly actionId?: string; readonly input?: Input };
    const id = input?.actionId ?? input?.own?.actionId ?? input?.id ?? actionId;
    if (deed === 'bookmark') return bookmarked(id);
    if (deed === 'unbookmark') return unbookmarked(id);
    if (deed === 'comment') return commented(id, input?.text ?? '', of);
    return deed === 'removeComment' ? uncommented(id) : liked(id, deed === 'like');
  };
}

interface Added {
  readonly interaction: CachedComment;
}
interface Removed {
  readonly action: { readonly id: string };
}
/** Of what is done to an action. */
interface Input {
  readonly actionId?: string;
  readonly id?: string;
  readonly own?: { readonly actionId: string };
  readonly text?: string;
}

function fragmentOf<Data>(
  cache: ApolloCache,
  fragment: TypedDocumentNode<Data>,
  type: string,
  id: string,
): Data | undefined {
  const found: Data | null = cache.readFragment({ id: `${type}:${id}`, fragment }, true);
  return found ?? undefined;
}

/** Does nothing to an action that no list has had. */
function changeCounts(cache: ApolloCache, id: string, change: (action: CachedAction) => CachedAction): void {
  const action = fragmentOf(cache, COUNTS, 'Action', id);
  if (action !== undefined) cache.writeFragment({ fragment: COUNTS, data: change(action) });
}

function countComment(cache: ApolloCache, actionId: string, by: number): void {
  changeCounts(cache, actionId, ({ engagement, ...action }) => {
    const comments = Math.max(0, engagement.comments + by);
    return { ...action, engagement: { ...engagement, comments } };
  });
}

type Rows = NonNullable<ReturnType<typeof rowsIn>>;
const rowsIn = ({ viewer, action }: ListAnswer) => viewer?.bookmarks ?? action?.interactions;

/** Changes the bookmarks or the comments of an action, if they were read. */
function changeList(
  cache: ApolloCache,
  query: TypedDocumentNode<ListAnswer>,
  variables: object,
  change: (list: Rows) => Rows,
): void {
  cache.updateQuery({ query, variables }, (answer) => {
    const list = answer === null ? undefined : rowsIn(answer);
    if (answer === null || list === undefined) return undefined;
    const { viewer, action } = answer;
    const changed = change(list) as never;
    if (viewer !== undefined) return { ...answer, viewer: { ...viewer, bookmarks: changed } };
    return action == null ? undefined : { ...answer, action: { ...action, interactions: changed } };
  });
}
