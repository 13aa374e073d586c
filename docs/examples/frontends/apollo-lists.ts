import { gql, type ApolloCache, type ApolloClient, type TypedDocumentNode } from '@apollo/client';
import * as documents from './list-documents.ts';
import {
  listIn,
  type Comment,
  type Connection,
  type ListAnswer,
  type ListName,
  type ListVariables,
  type Row,
} from './list-documents.ts';
import type { FeedSocket } from './feed-socket.ts';

export const QUERIES: Readonly<Record<ListName, TypedDocumentNode<ListAnswer, ListVariables>>> = {
  slice: gql(documents.SLICE),
  bookmarks: gql(documents.BOOKMARKS),
  comments: gql(documents.COMMENTS),
  groups: gql(documents.GROUPS),
};
const BOOKMARK: TypedDocumentNode<{ bookmark: Row }, { actionId: string }> = gql(documents.BOOKMARK);
const UNBOOKMARK: TypedDocumentNode<{ unbookmark: Pick<Row, 'id'> }, { actionId: string }> = gql(
  documents.UNBOOKMARK,
);
const COMMENT: TypedDocumentNode<{ addInteraction: CommentPayload }, object> = gql(documents.COMMENT);
const REMOVE_COMMENT: TypedDocumentNode<object, { id: string }> = gql(documents.REMOVE_COMMENT);

interface CommentPayload {
  readonly interaction: Comment;
  readonly action: Pick<Row, '__typename' | 'id'> & {
    readonly engagement: Pick<Row['engagement'], 'comments'>;
  };
}

/** The largest page of groups; the other lists allow 100. */
const MOST = 50;

/** The loaded part of a list, with optimistic changes. */
export function readList(client: ApolloClient, name: ListName, variables: ListVariables) {
  const answer = client.cache.readQuery({ query: QUERIES[name], variables }, true);
  return answer === null ? undefined : listIn(answer);
}

/** How many rows of each list were asked for: an answer to a shorter page may come after that of the next one. */
const wanted = new WeakMap<ApolloClient, Map<string, number>>();

function want(client: ApolloClient, name: ListName, variables: ListVariables, more: number): number {
  const counts = wanted.get(client) ?? new Map<string, number>();
  wanted.set(client, counts);
  const key = JSON.stringify([name, variables]);
  const loaded = readList(client, name, variables)?.edges.length ?? 0;
  const count = Math.min(MOST, Math.max(loaded + more, counts.get(key) ?? 0, variables.first ?? 0));
  counts.set(key, count);
  return count;
}

/** Reads the first page, or everything that is loaded as one page; it replaces what was loaded. */
export async function load(
  client: ApolloClient,
  socket: FeedSocket,
  name: ListName,
  variables: ListVariables,
) {
  await ask(client, socket, name, { ...variables, first: want(client, name, variables, 0) });
}

export async function loadMoreOf(
  client: ApolloClient,
  socket: FeedSocket,
  name: ListName,
  variables: ListVariables,
) {
  const pageInfo = readList(client, name, variables)?.pageInfo;
  if (pageInfo?.hasNextPage !== true) return;
  want(client, name, variables, variables.first ?? 0);
  await ask(client, socket, name, { ...variables, after: pageInfo.endCursor });
}

function ask(client: ApolloClient, socket: FeedSocket, name: ListName, variables: ListVariables) {
  return socket.during(() => client.query({ query: QUERIES[name], variables, fetchPolicy: 'network-only' }));
}

/** Bookmarks an action: it becomes the first bookmark at once, and returns to its place if the mutation fails. */
export function bookmark(client: ApolloClient, socket: FeedSocket, row: Row) {
  const kept: Row = { ...row, viewer: { ...row.viewer, isBookmarked: true } };
  return socket.during(() =>
    client.mutate({
      mutation: BOOKMARK,
      variables: { actionId: row.id },
      optimisticResponse: { bookmark: kept },
      update: (cache) => changeBookmarks(cache, (list) => withFirst(list, 'ActionEdge', kept)),
    }),
  );
}

export function unbookmark(client: ApolloClient, socket: FeedSocket, row: Row) {
  const viewer = { __typename: 'ActionViewer', isBookmarked: false } as const;
  return socket.during(() =>
    client.mutate({
      mutation: UNBOOKMARK,
      variables: { actionId: row.id },
      optimisticResponse: { unbookmark: { __typename: 'Action', id: row.id, viewer } as Pick<Row, 'id'> },
      update: (cache) => changeBookmarks(cache, (list) => without(list, row.id)),
    }),
  );
}

/** A comment becomes the first of the list at once, and disappears if it cannot be sent. */
export function comment(client: ApolloClient, socket: FeedSocket, { id, engagement }: Row, text: string) {
  const action = { __typename: 'Action', id } as const;
  const now = new Date().toISOString();
  const sending: Comment = { __typename: 'Interaction', id: `sending-${now}`, text, at: now, action };
  return socket.during(() =>
    client.mutate({
      mutation: COMMENT,
      variables: { actionId: id, text },
      optimisticResponse: {
        addInteraction: {
          ...{ __typename: 'InteractionPayload', interaction: sending },
          action: { ...action, engagement: commented(engagement, 1) },
        },
      },
      update: (cache, { data }) => {
        const sent = data?.addInteraction.interaction;
        if (sent !== undefined) changeComments(cache, id, (list) => withFirst(list, 'InteractionEdge', sent));
      },
    }),
  );
}

export function removeComment(
  client: ApolloClient,
  socket: FeedSocket,
  { id: actionId, engagement }: Row,
  id: string,
) {
  return socket.during(() =>
    client.mutate({
      mutation: REMOVE_COMMENT,
      variables: { id },
      optimisticResponse: {
        removeInteraction: {
          ...{ __typename: 'InteractionPayload', interaction: { __typename: 'Interaction', id } },
          action: { __typename: 'Action', id: actionId, engagement: commented(engagement, -1) },
        },
      },
      update: (cache) => changeComments(cache, actionId, (list) => without(list, id)),
    }),
  );
}

const commented = ({ comments }: Row['engagement'], by: number) => ({
  ...{ __typename: 'Engagement' as const, comments: Math.max(0, comments + by) },
});

type Change<Node> = (list: Connection<Node>) => Connection<Node>;

function changeBookmarks(cache: ApolloCache, change: Change<Row>): void {
  cache.updateQuery({ query: QUERIES.bookmarks }, (data) =>
    data?.viewer === undefined
      ? undefined
      : { viewer: { ...data.viewer, bookmarks: change(data.viewer.bookmarks) } },
  );
}

function changeComments(cache: ApolloCache, actionId: string, change: Change<Comment>): void {
  cache.updateQuery({ query: QUERIES.comments, variables: { actionId } }, (data) =>
    data?.action == null
      ? undefined
      : { action: { ...data.action, interactions: change(data.action.interactions) } },
  );
}

/** Puts a node first and removes it from where it was. */
function withFirst<Node extends { readonly id: string }>(
  list: Connection<Node>,
  __typename: string,
  node: Node,
): Connection<Node> {
  const edge = { __typename, cursor: '', node };
  return { ...list, edges: [edge, ...without(list, node.id).edges] };
}

function without<Node extends { readonly id: string }>(list: Connection<Node>, id: string): Connection<Node> {
  return { ...list, edges: list.edges.filter(({ node }) => node.id !== id) };
}
