import { gql, type Client, type TypedDocumentNode } from '@urql/core';
import type { Cache, Data, UpdateResolver } from '@urql/exchange-graphcache';
import * as documents from './list-documents.ts';
import { listIn, type ListAnswer, type ListName, type ListVariables } from './list-documents.ts';
import type { FeedSocket } from './feed-socket.ts';
import { dropLaterPages, edgesOf, endAtEmptyPage, pagesOf, removeNode } from './urql-pages.ts';

export const QUERIES: Readonly<Record<ListName, TypedDocumentNode<ListAnswer, ListVariables>>> = {
  slice: gql(documents.SLICE),
  bookmarks: gql(documents.BOOKMARKS),
  comments: gql(documents.COMMENTS),
  groups: gql(documents.GROUPS),
};
const BOOKMARK: TypedDocumentNode<object, { actionId: string }> = gql(documents.BOOKMARK);
const UNBOOKMARK: TypedDocumentNode<object, { actionId: string }> = gql(documents.UNBOOKMARK);
const COMMENT: TypedDocumentNode<object, { actionId: string; text: string }> = gql(documents.COMMENT);
const REMOVE_COMMENT: TypedDocumentNode<object, { id: string }> = gql(documents.REMOVE_COMMENT);
const ACTION_EDGE = gql`
  fragment BookmarkEdge on ActionEdge {
    cursor
    node {
      id
    }
  }
`;
const COMMENT_EDGE = gql`
  fragment CommentEdge on InteractionEdge {
    cursor
    node {
      id
    }
  }
`;

const BOOKMARKS = ['Viewer:viewer', 'bookmarks', {}] as const;
const COMMENTS = { kinds: ['COMMENT'] };

/** A first page replaces everything that is loaded; an empty page says that nothing follows. */
const asPage =
  (field: string): UpdateResolver =>
  (_, args, cache, { parentKey }) => {
    if (args['after'] == null) dropLaterPages(cache, parentKey, pagesOf(cache, parentKey, field, args));
    else endAtEmptyPage(cache, parentKey, field, args);
  };

interface Payload {
  readonly interaction?: { readonly id: string };
  readonly action: { readonly id: string };
}

/** For `updates` of the cache. A change is shown before the server responds, and undone if the mutation fails. */
export const LIST_UPDATES = {
  Query: { slice: asPage('slice'), feedGroups: asPage('feedGroups') },
  Action: { interactions: asPage('interactions') },
  Viewer: { bookmarks: asPage('bookmarks') },
  Mutation: {
    bookmark: (_: Data, { actionId }: { actionId?: unknown }, cache: Cache) =>
      putFirst(cache, pagesOf(cache, ...BOOKMARKS), ACTION_EDGE, 'Action', String(actionId)),
    unbookmark: (_: Data, { actionId }: { actionId?: unknown }, cache: Cache) =>
      removeNode(cache, pagesOf(cache, ...BOOKMARKS), `Action:${String(actionId)}`),
    addInteraction: ({ addInteraction }: Data, { input }: { input?: unknown }, cache: Cache) => {
      const { interaction, action } = addInteraction as unknown as Payload;
      if ((input as { kind: string }).kind !== 'COMMENT' || interaction === undefined) return;
      const pages = pagesOf(cache, `Action:${action.id}`, 'interactions', COMMENTS);
      putFirst(cache, pages, COMMENT_EDGE, 'Interaction', interaction.id);
    },
    removeInteraction: ({ removeInteraction }: Data, _: object, cache: Cache) => {
      const { interaction, action } = removeInteraction as unknown as Payload;
      if (interaction === undefined) return;
      const pages = pagesOf(cache, `Action:${action.id}`, 'interactions', COMMENTS);
      removeNode(cache, pages, `Interaction:${interaction.id}`);
    },
  },
};

/** Puts a node first and removes it from where it was. Does nothing if the list was never read. */
function putFirst(
  cache: Cache,
  pages: ReturnType<typeof pagesOf>,
  fragment: ReturnType<typeof gql>,
  type: 'Action' | 'Interaction',
  id: string,
): void {
  const first = pages.find(({ after }) => after === null);
  if (first === undefined) return;
  const edge = { __typename: `${type}Edge`, cursor: '', node: { __typename: type, id } };
  cache.writeFragment(fragment, edge);
  removeNode(cache, pages, `${type}:${id}`);
  cache.link(first.key, 'edges', [cache.keyOfEntity(edge) ?? '', ...edgesOf(cache, first)]);
}

/** For `optimistic` of the cache. */
export const OPTIMISTIC_BOOKMARKS = {
  bookmark: ({ actionId }: { actionId?: unknown }, cache: Cache) => bookmarked(cache, String(actionId), true),
  unbookmark: ({ actionId }: { actionId?: unknown }, cache: Cache) =>
    bookmarked(cache, String(actionId), false),
};

function bookmarked(cache: Cache, id: string, isBookmarked: boolean) {
  const row = cache.readFragment(
    gql`
      fragment BookmarkedRow on Action {
        id
        conducted
        descriptor {
          __typename
          summary
        }
        engagement {
          likes
          comments
        }
        viewer {
          hasLiked
        }
      }
    `,
    { __typename: 'Action', id },
  ) as Data & { viewer: Data };
  return { ...row, viewer: { ...row.viewer, __typename: 'ActionViewer', isBookmarked } };
}

export function commented(cache: Cache, actionId: string, text: string) {
  const action = { __typename: 'Action', id: actionId };
  const now = new Date().toISOString();
  return {
    __typename: 'InteractionPayload',
    interaction: { __typename: 'Interaction', id: `sending-${now}`, text, at: now, action },
    action: { ...action, engagement: engagementOf(cache, action, 1) },
  };
}

export function uncommented(cache: Cache, id: string) {
  const interaction = { __typename: 'Interaction', id };
  const action = cache.resolve(interaction, 'action') as string;
  const actionId = cache.resolve(action, 'id') as string;
  return {
    ...{ __typename: 'InteractionPayload', interaction },
    action: { __typename: 'Action', id: actionId, engagement: engagementOf(cache, action, -1) },
  };
}

function engagementOf(cache: Cache, action: Parameters<Cache['resolve']>[0], by: number) {
  const comments = Number(cache.resolve(cache.resolve(action, 'engagement') as string, 'comments'));
  return { __typename: 'Engagement', comments: Math.max(0, comments + by) };
}

/** The loaded part of a list. */
export function readList(client: Client, name: ListName, variables: ListVariables) {
  const answer = client.readQuery(QUERIES[name], variables)?.data;
  return answer === undefined ? undefined : listIn(answer);
}

/** Reads the first page, then as many pages as were loaded before, one after the other. */
export async function load(client: Client, socket: FeedSocket, name: ListName, variables: ListVariables) {
  const loaded = readList(client, name, variables)?.edges.length ?? 0;
  await socket.during(async () => {
    await ask(client, name, variables);
    while ((readList(client, name, variables)?.edges.length ?? loaded) < loaded)
      if (!(await askMore(client, name, variables))) return;
  });
}

export function loadMoreOf(client: Client, socket: FeedSocket, name: ListName, variables: ListVariables) {
  return socket.during(() => askMore(client, name, variables));
}

/** @returns whether there was more */
async function askMore(client: Client, name: ListName, variables: ListVariables): Promise<boolean> {
  const pageInfo = readList(client, name, variables)?.pageInfo;
  if (pageInfo?.hasNextPage !== true) return false;
  await ask(client, name, { ...variables, after: pageInfo.endCursor });
  return true;
}

async function ask(client: Client, name: ListName, variables: ListVariables): Promise<void> {
  // Wait until the cache has sent its own requests: urql would take their response for this one's.
  await Promise.resolve();
  const { error } = await client
    .query(QUERIES[name], variables, { requestPolicy: 'network-only' })
    .toPromise();
  if (error !== undefined) throw error;
}

export function bookmark(client: Client, socket: FeedSocket, actionId: string) {
  return socket.during(() => client.mutation(BOOKMARK, { actionId }).toPromise());
}

export function unbookmark(client: Client, socket: FeedSocket, actionId: string) {
  return socket.during(() => client.mutation(UNBOOKMARK, { actionId }).toPromise());
}

export function comment(client: Client, socket: FeedSocket, actionId: string, text: string) {
  return socket.during(() => client.mutation(COMMENT, { actionId, text }).toPromise());
}

export function removeComment(client: Client, socket: FeedSocket, id: string) {
  return socket.during(() => client.mutation(REMOVE_COMMENT, { id }).toPromise());
}
