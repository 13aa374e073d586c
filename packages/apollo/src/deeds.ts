import { gql, type ApolloCache, type TypedDocumentNode } from '@apollo/client';
import {
  inReviewIn,
  unknownFields,
  without,
  withFirst,
  type cacheDocuments,
  type CachedAction,
  type CachedComment,
  type Deeds,
  type ListAnswer,
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

interface Deed<Data> {
  /** Names the action: its deeds are sent one after the other. */
  readonly of: string;
  readonly document: string;
  readonly variables: Record<string, unknown>;
  /** Shows it, on top of all that is shown: called again when that is another. */
  readonly show: (cache: ApolloCache) => void;
  /** Beyond the objects of the answer. */
  readonly confirm?: (cache: ApolloCache, data: Data) => void;
}

export function deedsOf(parts: Parts, documents: Documents): Deeds {
  const { source } = parts;
  const { cache } = parts.client;
  const row: TypedDocumentNode<CachedAction> = gql(documents.row);
  const said: TypedDocumentNode<CachedComment> = gql(documents.comment);
  const queries: Record<'bookmarks' | 'comments', TypedDocumentNode<ListAnswer>> = {
    ...{ bookmarks: gql(documents.bookmarks), comments: gql(documents.comments) },
  };
  let count = 0;
  const perform = async <Data>({ of, document, variables, show, confirm }: Deed<Data>): Promise<void> => {
    const layer = `deed ${String((count += 1))}`;
    cache.recordOptimisticTransaction(show, layer);
    try {
      await source.inTurn(of, () =>
        source.during(async () => {
          const data = await source.request<Data>(sent(parts, document), variables);
          // In one step: what is shown never has it twice, nor without it.
          cache.batch({
            removeOptimistic: layer,
            optimistic: false,
            update(changed) {
              changed.write({
                dataId: 'ROOT_MUTATION',
                query: gql(document),
                variables,
                result: data as object,
              });
              confirm?.(changed, data);
              changed.evict({ id: 'ROOT_MUTATION' });
            },
          });
        }),
      );
    } catch (error) {
      cache.removeOptimistic(layer);
      throw error;
    }
  };
  const setLiked = (id: string, hasLiked: boolean): Promise<void> =>
    perform({
      ...{ of: id, variables: { actionId: id }, document: hasLiked ? documents.like : documents.unlike },
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
  return {
    like: (id) => setLiked(id, true),
    unlike: (id) => setLiked(id, false),
    bookmark: (id) =>
      perform<{ bookmark: CachedAction }>({
        ...{ of: id, variables: { actionId: id }, document: documents.bookmark },
        show(shown) {
          setBookmarked(shown, id, true);
          const action = fragmentOf(shown, row, 'Action', id);
          if (action !== undefined) changeBookmarks(shown, (list) => withFirst(list, 'ActionEdge', action));
        },
        confirm: (changed, { bookmark }) =>
          changeBookmarks(changed, (list) => withFirst(list, 'ActionEdge', bookmark)),
      }),
    unbookmark: (id) =>
      perform({
        ...{ of: id, variables: { actionId: id }, document: documents.unbookmark },
        show(shown) {
          setBookmarked(shown, id, false);
          changeBookmarks(shown, (list) => without(list, id));
        },
        confirm: (changed) => changeBookmarks(changed, (list) => without(list, id)),
      }),
    comment(actionId, text) {
      const at = new Date().toISOString();
      const id = `sending-${String((count += 1))}`;
      const action = { __typename: 'Action', id: actionId } as const;
      const comment = {
        ...unknownFields(said),
        ...({ __typename: 'Interaction', id, text, at, state: 'VISIBLE', action } as const),
      };
      return perform<{ addInteraction: { interaction: CachedComment } }>({
        ...{ of: actionId, variables: { actionId, text }, document: documents.addComment },
        show(shown) {
          countComment(shown, actionId, 1);
          changeComments(shown, actionId, (list) => withFirst(list, 'InteractionEdge', comment));
        },
        confirm: (changed, { addInteraction: { interaction } }) =>
          interaction.state === 'VISIBLE'
            ? changeComments(changed, actionId, (list) => withFirst(list, 'InteractionEdge', interaction))
            : changeInReview(changed, actionId, (list) => [interaction, ...list]),
      });
    },
    removeComment(id) {
      const actionId = fragmentOf(cache, COMMENTED, 'Interaction', id)?.action.id;
      return perform<{ removeInteraction: { action: { id: string } } }>({
        ...{ of: actionId ?? id, variables: { id }, document: documents.removeComment },
        show(shown) {
          if (actionId === undefined) return;
          countComment(shown, actionId, -1);
          changeComments(shown, actionId, (list) => without(list, id));
          changeInReview(shown, actionId, (list) => list.filter((one) => one.id !== id));
        },
        confirm(changed, { removeInteraction: { action } }) {
          changeComments(changed, action.id, (list) => without(list, id));
          changeInReview(changed, action.id, (list) => list.filter((one) => one.id !== id));
        },
      });
    },
  };
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
