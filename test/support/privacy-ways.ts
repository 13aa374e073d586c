import { groupKeyOf } from '../../src/descriptors/group-key.ts';
import { encodeFeedGroupId, encodeNewsfeedItemId } from '../../src/graphql/global-id.ts';
import { inAnHour } from './feed-api.ts';

/** What the actor says of each action. */
export const COMMENT_TEXT = 'Said among us';
/** Long ago: a bump lifts it, and all of one world are of one day. */
export const CONDUCTED = '2026-01-01T00:00:00Z';

/**
 * What one way in shows of an action: its global id, the id of a ref that only it carries, that of its first comment, and the
 * key of a group that it is alone in.
 */
export interface Target {
  readonly actionId: string;
  readonly refId: string;
  readonly commentId: string;
  readonly groupKey: string;
}

/** The descriptor of an action about a thing. */
export function postedAbout(thingId: string): { readonly custom: Readonly<Record<string, string>> } {
  return { custom: { verb: 'posted', objectType: 'post', objectId: thingId } };
}

export function groupKeyAbout(thingId: string): string {
  const descriptor = { type: 'Custom', tags: [], ...postedAbout(thingId).custom };
  return groupKeyOf({ actorId: 'bob', descriptor, conducted: new Date(CONDUCTED) }) ?? '';
}

export function itemIdOf(userId: string, actionId: string): string {
  return encodeNewsfeedItemId(userId, Buffer.from(actionId, 'base64').toString().slice('Action:'.length));
}

export interface Way {
  readonly document: string;
  readonly variables: (target: Target, viewerId: string) => Readonly<Record<string, unknown>>;
  /** What it names of what may be seen; absent: of reads the action and what is said of it, of writes the action. */
  readonly shows?: (target: Target) => readonly string[];
}

const COMMENT = `fragment Said on Interaction {
  id kind text data state at editedAt parentId reaction actor { memberId name } action { id engagement { comments } }
}`;
const ACTION = `fragment Shown on Action {
  id conducted scope isHidden actor { memberId name } refs { refId type label followerCount }
  descriptor { type summary tags } engagement { comments likes reshares lastInteraction } fanOut { state delivered }
  viewer { hasLiked hasReshared hasCommented reactions isBookmarked canDelete canEdit }
  interactions(kinds: [COMMENT], parentId: null, first: 5) { edges { cursor node { ...Said } } }
} ${COMMENT}`;
const ITEM = `fragment Item on NewsfeedItem { id relevancy reasons isUnread action { ...Shown } } ${ACTION}`;
const PAGE = 'pageInfo { hasNextPage hasPreviousPage startCursor endCursor }';
const idOnly = ({ actionId }: Target) => ({ id: actionId });
const commentOnly = ({ commentId }: Target) => ({ id: commentId });
export const actionOnly = ({ actionId }: Target) => [actionId];
const both = ({ actionId, commentId }: Target) => [actionId, commentId];
export const said = ({ actionId, commentId }: Target) => [actionId, commentId, COMMENT_TEXT];

/** Every way to an action that leaves it as it is. */
export const READS = {
  feed: {
    document: `query ($refId: String!) {
      feed(filter: { refId: $refId }) { edges { cursor node { ...Item } } ${PAGE} state }
    } ${ITEM}`,
    variables: ({ refId }) => ({ refId }),
  },
  'feed by time': {
    document: `query ($refId: String!) {
      feed(filter: { refId: $refId }, order: RECENT) { edges { cursor node { ...Item } } ${PAGE} }
    } ${ITEM}`,
    variables: ({ refId }) => ({ refId }),
  },
  'feed by score': {
    document: `query ($refId: String!) {
      feed(filter: { refId: $refId }, order: TOP) { edges { cursor node { ...Item } } ${PAGE} total { count isExact } }
    } ${ITEM}`,
    variables: ({ refId }) => ({ refId }),
  },
  'own item': {
    document: `query ($id: ID!) { node(id: $id) { ...Item } } ${ITEM}`,
    variables: ({ actionId }, viewerId) => ({ id: itemIdOf(viewerId, actionId) }),
  },
  slice: {
    document: `query ($refId: String!) { slice(refId: $refId) { edges { cursor node { ...Shown } } ${PAGE} } } ${ACTION}`,
    variables: ({ refId }) => ({ refId }),
  },
  action: { document: `query ($id: ID!) { action(id: $id) { ...Shown } } ${ACTION}`, variables: idOnly },
  pinned: {
    document: `query ($refId: String!) { ref(refId: $refId) { pinned { ...Shown } } } ${ACTION}`,
    variables: ({ refId }) => ({ refId }),
  },
  node: { document: `query ($id: ID!) { node(id: $id) { ...Shown } } ${ACTION}`, variables: idOnly },
  nodes: { document: `query ($id: ID!) { nodes(ids: [$id]) { ...Shown } } ${ACTION}`, variables: idOnly },
  groups: {
    document: `query ($refId: String!) {
      feedGroups(filter: { refId: $refId }) {
        edges { cursor node { id isUnread count { count } actors { memberId } items { ...Item groupId } } }
        ${PAGE} total { count isExact } unread { count isExact }
      }
    } ${ITEM}`,
    variables: ({ refId }) => ({ refId }),
  },
  'own group': {
    document: `query ($id: ID!) {
      node(id: $id) {
        ... on FeedGroup {
          id relevancy isUnread count { count } actors { memberId name } actorCount { count }
          summary summaryParts { text member { memberId } ref { refId } } items { ...Item groupId }
        }
      }
    } ${ITEM}`,
    variables: ({ groupKey }, viewerId) => ({ id: encodeFeedGroupId(viewerId, groupKey) }),
  },
  why: {
    document: `query ($id: ID!) {
      explainFeedItem(actionId: $id) {
        isInFeed isEntitled addressedBy { reason via since until } withheldBy relevancy
        causes { at kind liftedTo } path score scoreVars
      }
      action(id: $id) { id }
    }`,
    variables: idOnly,
    shows: actionOnly,
  },
  comment: {
    document: `query ($id: ID!) { node(id: $id) { ...Said } nodes(ids: [$id]) { ...Said } } ${COMMENT}`,
    variables: commentOnly,
  },
  replies: {
    document: `query ($id: ID!, $parentId: ID!) {
      action(id: $id) { id interactions(parentId: $parentId) { edges { cursor node { ...Said } } ${PAGE} } }
    } ${COMMENT}`,
    variables: ({ actionId, commentId }) => ({ id: actionId, parentId: commentId }),
    shows: actionOnly,
  },
} as const satisfies Readonly<Record<string, Way>>;

/** Every way to do something to an action. */
export const WRITES = {
  hideFeedItem: {
    document: 'mutation ($id: ID!) { hideFeedItem(actionId: $id) { actionId item { id } } }',
    variables: idOnly,
  },
  unhideFeedItem: {
    document: 'mutation ($id: ID!) { unhideFeedItem(actionId: $id) { actionId item { id } } }',
    variables: idOnly,
  },
  archiveFeedItem: {
    document: 'mutation ($id: ID!) { archiveFeedItem(actionId: $id) { actionId item { id isArchived } } }',
    variables: idOnly,
  },
  unarchiveFeedItem: {
    document: 'mutation ($id: ID!) { unarchiveFeedItem(actionId: $id) { actionId item { id isArchived } } }',
    variables: idOnly,
  },
  snoozeFeedItem: {
    document:
      'mutation ($id: ID!, $until: DateTime!) { snoozeFeedItem(actionId: $id, until: $until) { actionId item { id snoozedUntil } } }',
    variables: ({ actionId }: Target) => ({
      id: actionId,
      until: inAnHour(),
    }),
  },
  unsnoozeFeedItem: {
    document: 'mutation ($id: ID!) { unsnoozeFeedItem(actionId: $id) { actionId item { id snoozedUntil } } }',
    variables: idOnly,
  },
  markItemsRead: {
    document: 'mutation ($id: ID!) { markItemsRead(actionIds: [$id]) { memberId } }',
    variables: idOnly,
    shows: () => ['memberId'],
  },
  markItemsUnread: {
    document: 'mutation ($id: ID!) { markItemsUnread(actionIds: [$id]) { memberId } }',
    variables: idOnly,
    shows: () => ['memberId'],
  },
  bookmark: {
    document: `mutation ($id: ID!) { bookmark(actionId: $id) { ...Shown } } ${ACTION}`,
    variables: idOnly,
  },
  unbookmark: {
    document: `mutation ($id: ID!) { unbookmark(actionId: $id) { ...Shown } } ${ACTION}`,
    variables: idOnly,
  },
  hideAction: { document: 'mutation ($id: ID!) { hideAction(id: $id) { id } }', variables: idOnly },
  unhideAction: { document: 'mutation ($id: ID!) { unhideAction(id: $id) { id } }', variables: idOnly },
  updateAction: {
    document: `mutation ($id: ID!) { updateAction(id: $id, input: { expiresAt: null }) { ...Shown } } ${ACTION}`,
    variables: idOnly,
  },
  addInteraction: {
    document: `mutation ($id: ID!, $parentId: ID!) {
      addInteraction(input: { actionId: $id, kind: COMMENT, text: "A reply", parentId: $parentId }) {
        interaction { ...Said } action { ...Shown }
      }
    } ${ACTION}`,
    variables: ({ actionId, commentId }: Target) => ({ id: actionId, parentId: commentId }),
    shows: both,
  },
  updateInteraction: {
    document: `mutation ($id: ID!) { updateInteraction(id: $id, text: "${COMMENT_TEXT}") { ...Said } } ${COMMENT}`,
    variables: commentOnly,
    shows: said,
  },
  removeInteraction: {
    document: `mutation ($id: ID!) {
      removeInteraction(input: { id: $id }) { interaction { ...Said } action { ...Shown } }
    } ${ACTION}`,
    variables: commentOnly,
    shows: both,
  },
  hideInteraction: {
    document: 'mutation ($id: ID!) { hideInteraction(id: $id) { id action { id } } }',
    variables: commentOnly,
    shows: both,
  },
  unhideInteraction: {
    document: 'mutation ($id: ID!) { unhideInteraction(id: $id) { id action { id } } }',
    variables: commentOnly,
    shows: both,
  },
  retryFanOut: { document: 'mutation ($id: ID!) { retryFanOut(id: $id) { id } }', variables: idOnly },
  deleteAction: { document: 'mutation ($id: ID!) { deleteAction(id: $id) { id } }', variables: idOnly },
} as const satisfies Readonly<Record<string, Way>>;

export const WAYS: Readonly<Record<string, Way>> = { ...READS, ...WRITES };
export type Read = keyof typeof READS;
export type Write = keyof typeof WRITES;

/** Those of the reads that show what is in the feed, and nothing else. */
export const FEED_READS: readonly Read[] = [
  ...(['feed', 'feed by time', 'feed by score', 'own item', 'groups', 'own group'] as const),
];
export const READ_NAMES = Object.keys(READS) as readonly Read[];
export const WRITE_NAMES = Object.keys(WRITES) as readonly Write[];
