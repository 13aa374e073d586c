import { gql, type ApolloCache, type TypedDocumentNode } from '@apollo/client';
import {
  unknownFields,
  without,
  withFirst,
  type cacheDocuments,
  type CachedAction,
  type CachedComment,
  type Deeds,
  type ListAnswer,
} from '@fanfare/client/cache';
import type { Parts } from './lists.ts';

type Documents = ReturnType<typeof cacheDocuments>;
type Part<Name extends keyof CachedAction> = Pick<CachedAction, '__typename' | 'id' | Name>;

/** What deeds change, as it is confirmed. */
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

export function deedsOf({ client, source }: Parts, documents: Documents): Deeds {
  const { cache } = client;
  const row: TypedDocumentNode<CachedAction> = gql(documents.row);
  const said = gql(documents.comment);
  const queries = { bookmarks: gql(documents.bookmarks), comments: gql(documents.comments) };
  const countsOf = (id: string) => fragmentOf(cache, COUNTS, 'Action', id);
  const perform = async <Data>(
    document: string,
    variables: Record<string, unknown>,
    shown: {
      readonly optimistic: Data | undefined;
      readonly update?: (cache: ApolloCache, data: Data) => void;
    },
  ): Promise<void> => {
    const mutation: TypedDocumentNode<Data, Record<string, unknown>> = gql(document);
    await source.during(() =>
      client.mutate({
        ...{ mutation, variables },
        ...(shown.optimistic !== undefined && { optimisticResponse: shown.optimistic }),
        update: (changed, { data }) => {
          if (data != null) shown.update?.(changed, data);
        },
      }),
    );
  };
  const setLiked = (id: string, hasLiked: boolean): Promise<void> => {
    const counts = countsOf(id);
    const [document, field] = hasLiked
      ? [documents.like, 'addInteraction']
      : [documents.unlike, 'removeInteraction'];
    return perform(
      document,
      { actionId: id },
      { optimistic: counts && payload(field, liked(counts, hasLiked)) },
    );
  };
  return {
    like: (id) => setLiked(id, true),
    unlike: (id) => setLiked(id, false),
    bookmark(id) {
      const action = fragmentOf(cache, row, 'Action', id);
      return perform<{ bookmark: CachedAction }>(
        documents.bookmark,
        { actionId: id },
        {
          optimistic: action && {
            bookmark: { ...action, viewer: { ...action.viewer, isBookmarked: true } },
          },
          update: (changed, { bookmark }) =>
            changeList(changed, queries.bookmarks, {}, (list) => withFirst(list, 'ActionEdge', bookmark)),
        },
      );
    },
    unbookmark: (id) =>
      perform(
        documents.unbookmark,
        { actionId: id },
        {
          optimistic: {
            unbookmark: {
              ...{ __typename: 'Action', id },
              viewer: { __typename: 'ActionViewer', isBookmarked: false },
            },
          },
          update: (changed) => changeList(changed, queries.bookmarks, {}, (list) => without(list, id)),
        },
      ),
    comment(actionId, text) {
      const counts = countsOf(actionId);
      const sending = counts && { ...unknownFields(said), ...commentOf(actionId, text) };
      return perform<{ addInteraction: { interaction: CachedComment } }>(
        documents.addComment,
        { actionId, text },
        {
          optimistic: counts && (payload('addInteraction', commented(counts, 1), sending) as never),
          update: (changed, { addInteraction: { interaction } }) =>
            changeList(changed, queries.comments, { actionId }, (list) =>
              withFirst(list, 'InteractionEdge', interaction),
            ),
        },
      );
    },
    removeComment(id) {
      const actionId = fragmentOf(cache, COMMENTED, 'Interaction', id)?.action.id;
      const counts = actionId === undefined ? undefined : countsOf(actionId);
      const interaction = { __typename: 'Interaction', id };
      return perform<{ removeInteraction: { action: { id: string } } }>(
        documents.removeComment,
        { id },
        {
          optimistic: counts && (payload('removeInteraction', commented(counts, -1), interaction) as never),
          update: (changed, { removeInteraction: { action } }) =>
            changeList(changed, queries.comments, { actionId: action.id }, (list) => without(list, id)),
        },
      );
    },
  };
}

function fragmentOf<Data>(
  cache: ApolloCache,
  fragment: TypedDocumentNode<Data>,
  type: string,
  id: string,
): Data | undefined {
  const found: Data | null = cache.readFragment({ id: `${type}:${id}`, fragment });
  return found ?? undefined;
}

function payload(field: string, action: object, interaction?: object): Record<string, unknown> {
  return { [field]: { __typename: 'InteractionPayload', action, ...(interaction && { interaction }) } };
}

function liked({ __typename, id, engagement, viewer }: Part<'engagement' | 'viewer'>, hasLiked: boolean) {
  const likes = engagement.likes + Number(hasLiked) - Number(viewer.hasLiked);
  return { __typename, id, engagement: { ...engagement, likes }, viewer: { ...viewer, hasLiked } };
}

function commented({ __typename, id, engagement }: Part<'engagement'>, by: number) {
  return {
    ...{ __typename, id },
    engagement: { ...engagement, comments: Math.max(0, engagement.comments + by) },
  };
}

function commentOf(actionId: string, text: string): CachedComment {
  const at = new Date().toISOString();
  const action = { __typename: 'Action', id: actionId } as const;
  return { __typename: 'Interaction', id: `sending-${at}`, text, at, action };
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
