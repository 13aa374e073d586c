import { gql } from '@urql/core';
import {
  cacheExchange,
  type Cache,
  type CacheExchangeOpts,
  type Data,
  type KeyGenerator,
  type KeyingConfig,
  type UpdateResolver,
} from '@urql/exchange-graphcache';
import {
  afterNotificationEvent,
  orderOf,
  POSSIBLE_TYPES,
  unknownFields,
  type CachedFeedEvent,
  type CachedItem,
  type CachedNotification,
  type CachedNotificationEvent,
  type cacheDocuments,
  type NotificationsPage,
  type Starts,
} from '@fanfare/client/cache';
import {
  chainsOf,
  dropLaterPages,
  edgesOf,
  isFirst,
  joinedPages,
  nodeOf,
  pageInfoOf,
  pagesOf,
  removeNode,
  type CachedPage,
} from './pages.ts';

type Documents = ReturnType<typeof cacheDocuments>;

/** Types that are parts of their parent. A group is one too: its contents depend on the filter of its list. */
const PARTS =
  `ActionConnection ActionContent ActionViewer AddressedBy Count Engagement Erasure ErasureConnection ErasureEdge FanOut
  FeedConnection FeedGroup FeedGroupConnection FeedGroupEdge FeedItemExplanation FeedItemPayload FirstUnread Follow
  HostEventConnection HostEventEdge InteractionConnection ReportConnection ReportEdge ReportEntry InteractionPayload
  LaneDepth Media MemberConnection MemberEdge ModerationConnection NotificationConnection NotificationEdge
  NotificationExplanation NotificationPreference NotificationSending QuietHours MailState ModerationEdge ModerationEntry PageInfo
  PublishActionError PublishActionPayload PublishActionResult Rating ReactionCount RefConnection RefEdge RefRename
  NewFeedKey RelevancyCause SummaryPart Ticket UnreadCount View WebhookDeliveryConnection WebhookDeliveryEdge WorkOverview Sample
  WebhookReceiver`.split(/\s+/);

const EVENTS = (['FeedEvent', 'NotificationEvent', 'SliceEvent', 'ActionEvent'] as const).flatMap(
  (union): readonly string[] => POSSIBLE_TYPES[union],
);

const none: KeyGenerator = () => null;
/** Of edges: one that is put into a list has the key of its node. */
const ofNode: KeyGenerator = ({ node }) => (node as unknown as { readonly id: string }).id;

const KNOWN: KeyingConfig = {
  ...Object.fromEntries([...PARTS, ...EVENTS].map((type) => [type, none])),
  ...{ FeedEdge: ofNode, ActionEdge: ofNode, InteractionEdge: ofNode },
  // There is one viewer, whichever query or mutation returns it.
  Viewer: () => 'viewer',
};

/** The keys of graphcache. All other types have an id, but for descriptors, which each server declares. */
export const KEYS: KeyingConfig = new Proxy(KNOWN, {
  get: (known, type: string) => known[type] ?? (type.endsWith('Descriptor') ? none : undefined),
});

/** @param starts where feeds begin that do not begin at the top */
export function createCacheExchange(
  documents: Documents,
  starts: Starts = new Set(),
): ReturnType<typeof cacheExchange> {
  return cacheExchange({
    possibleTypes: POSSIBLE_TYPES,
    keys: KEYS,
    resolvers: {
      Query: {
        ...{ feed: joinedPages(starts), slice: joinedPages(), feedGroups: joinedPages() },
        // The page of an action shows at once what a list has loaded of it.
        action: (_, { id }) => ({ __typename: 'Action', id: id as string }),
        node: (_, { id }) => ({ __typename: typeOf(id as string), id: id as string }),
      },
      Action: { interactions: joinedPages() },
      Viewer: { bookmarks: joinedPages() },
    },
    optimistic: optimisticOf(documents),
    updates: {
      Query: { feed: asPage('feed', starts), slice: asPage('slice'), feedGroups: asPage('feedGroups') },
      Action: { interactions: asPage('interactions') },
      Viewer: { bookmarks: asPage('bookmarks') },
      Mutation: Object.fromEntries(Object.entries(MUTATIONS).map(([name, update]) => [name, marked(update)])),
      Subscription: {
        feedEvents: (data, { after: _after, ...list }, cache) =>
          applyFeedEvent(
            cache,
            (data as { feedEvents: CachedFeedEvent<CachedItem> }).feedEvents,
            list,
            starts,
          ),
        notificationEvents: applyNotificationEvent(documents),
      },
    },
  });
}

/** A global id contains it in base64. */
function typeOf(id: string): string {
  try {
    return atob(id).split(':', 1)[0] ?? '';
  } catch {
    return '';
  }
}

/** A first page replaces everything that is loaded. */
const asPage =
  (field: string, starts?: Starts): UpdateResolver =>
  (_, args, cache, { parentKey }) => {
    if (isFirst(args, starts))
      dropLaterPages(cache, parentKey, pagesOf(cache, parentKey, field, args), starts);
  };

function applyFeedEvent(cache: Cache, event: CachedFeedEvent<CachedItem>, list: Args, starts: Starts): void {
  const pages = pagesOf(cache, 'Query', 'feed', list);
  const itemOf = (id: string) => cache.keyOfEntity({ __typename: 'NewsfeedItem', id }) ?? '';
  if (event.__typename === 'FeedItemAdded' || event.__typename === 'FeedItemUpdated') {
    const item = itemOf(event.item.id);
    for (const chain of chainsOf(cache, pages, starts)) {
      if (isInPlace(cache, chain, item)) continue;
      removeNode(cache, chain, item);
      addItem(cache, chain, event.item.id);
    }
  }
  if (event.__typename === 'FeedItemRemoved') removeNode(cache, pages, itemOf(event.itemId));
}

/** Whether it stands between those around it: taken for one below all that is loaded, the last one would be lost. */
function isInPlace(cache: Cache, chain: readonly CachedPage[], item: string): boolean {
  const nodes = chain.flatMap((page) => edgesOf(cache, page)).map((edge) => nodeOf(cache, edge));
  const at = nodes.indexOf(item);
  const orderAt = (n: number): string | undefined => {
    const node = nodes[n];
    return node === undefined ? undefined : cachedOrder(cache, node);
  };
  const order = orderAt(at);
  if (at === -1 || order === undefined) return false;
  return (orderAt(at - 1) ?? '~') > order && (orderAt(at + 1) ?? '') < order;
}

const edgeFragment = (type: string) => gql(`fragment Edge on ${type} { cursor node { id } }`);

/** Puts an item of the cache in its place: into the first page that has an item below it, unless the page above brings it. */
function addItem(cache: Cache, pages: readonly CachedPage[], itemId: string): void {
  const edge = { __typename: 'FeedEdge', cursor: '', node: { __typename: 'NewsfeedItem', id: itemId } };
  cache.writeFragment(edgeFragment('FeedEdge'), edge);
  const key = cache.keyOfEntity(edge) ?? '';
  const order = cachedOrder(cache, nodeOf(cache, key));
  for (const page of pages) {
    const edges = edgesOf(cache, page);
    const found = edges.findIndex((other) => cachedOrder(cache, nodeOf(cache, other)) < order);
    // Below everything that is loaded: the next page will bring it, unless there is none.
    const isEnd =
      page === pages.at(-1) && cache.resolve(pageInfoOf(cache, page.key), 'hasNextPage') === false;
    if (found < 0 && !isEnd) continue;
    const hasMoreAbove = cache.resolve(pageInfoOf(cache, page.key), 'hasPreviousPage') === true;
    if (found === 0 && hasMoreAbove && page === pages[0]) return;
    cache.link(page.key, 'edges', edges.toSpliced(found < 0 ? edges.length : found, 0, key));
    return;
  }
}

function cachedOrder(cache: Cache, item: string): string {
  const id = cache.resolve(cache.resolve(item, 'action') as string, 'id') as string;
  return orderOf(cache.resolve(item, 'relevancy') as string, id);
}

/** Into each bell that is shown, however many it shows. */
function applyNotificationEvent(documents: Documents): UpdateResolver {
  const query = gql<{ notifications: NotificationsPage<CachedNotification> }>(documents.notifications);
  return (data, _, cache) => {
    const { notificationEvents: event } = data as unknown as {
      notificationEvents: CachedNotificationEvent<CachedNotification>;
    };
    for (const { fieldName, arguments: args } of cache.inspectFields('Query')) {
      const first = args?.['first'];
      if (fieldName !== 'notifications' || typeof first !== 'number') continue;
      cache.updateQuery({ query, variables: { first } }, (list) =>
        list === null ? null : { notifications: afterNotificationEvent(list.notifications, event, first) },
      );
    }
  };
}

const BOOKMARKS = ['Viewer:viewer', 'bookmarks', {}] as const;
const COMMENTS = { kinds: ['COMMENT'] };

interface Payload {
  readonly interaction?: { readonly id: string; readonly state?: string };
  readonly action: { readonly id: string };
}
type Args = Readonly<Record<string, unknown>>;

const DEED = gql('fragment Deed on Deed { id }');

/**
 * Graphcache puts the answer to a mutation that changed nothing on the screen, such as a second like, above what is shown of
 * later ones. So each changes something.
 */
const marked =
  (update: UpdateResolver): UpdateResolver =>
  (parent, args, cache, info) => {
    if (info.optimistic === true)
      cache.writeFragment(DEED, { __typename: 'Deed', id: String(Math.random()) });
    update(parent, args, cache, info);
  };

const MUTATIONS: Record<string, UpdateResolver> = {
  bookmark: (_, { actionId }, cache) =>
    putFirst(cache, pagesOf(cache, ...BOOKMARKS), 'Action', actionId as string),
  unbookmark: (_, { actionId }, cache) =>
    removeNode(cache, pagesOf(cache, ...BOOKMARKS), `Action:${actionId as string}`),
  addInteraction({ addInteraction }: Data, { input }: Args, cache) {
    const { interaction, action } = addInteraction as unknown as Payload;
    if ((input as { kind: string }).kind !== 'COMMENT' || interaction === undefined) return;
    if (interaction.state === 'HIDDEN') {
      changeInReview(cache, action.id, (keys) => [`Interaction:${interaction.id}`, ...keys]);
      return;
    }
    putFirst(
      cache,
      pagesOf(cache, `Action:${action.id}`, 'interactions', COMMENTS),
      'Interaction',
      interaction.id,
    );
  },
  removeInteraction({ removeInteraction }: Data, _: Args, cache) {
    const { interaction, action } = removeInteraction as unknown as Payload;
    if (interaction === undefined) return;
    const pages = pagesOf(cache, `Action:${action.id}`, 'interactions', COMMENTS);
    removeNode(cache, pages, `Interaction:${interaction.id}`);
    changeInReview(cache, action.id, (keys) => keys.filter((key) => key !== `Interaction:${interaction.id}`));
  },
};

/** Of the reader's own comments on an action that wait for review, if they were read. */
function changeInReview(cache: Cache, actionId: string, change: (keys: string[]) => string[]): void {
  const viewer = cache.resolve(`Action:${actionId}`, 'viewer');
  const keys = typeof viewer === 'string' ? cache.resolve(viewer, 'commentsInReview') : undefined;
  if (Array.isArray(keys)) cache.link(viewer as string, 'commentsInReview', change(keys as string[]));
}

/** Puts a node first and removes it from where it was. Does nothing if the list was never read. */
function putFirst(
  cache: Cache,
  pages: readonly CachedPage[],
  type: 'Action' | 'Interaction',
  id: string,
): void {
  const first = pages.find(({ after }) => after === null);
  if (first === undefined) return;
  const edge = { __typename: `${type}Edge`, cursor: '', node: { __typename: type, id } };
  cache.writeFragment(edgeFragment(`${type}Edge`), edge);
  removeNode(cache, pages, `${type}:${id}`);
  cache.link(first.key, 'edges', [cache.keyOfEntity(edge) ?? '', ...edgesOf(cache, first)]);
}

interface AddArgs {
  readonly input: { readonly actionId: string; readonly kind: string; readonly text?: string };
}
interface RemoveArgs {
  readonly input: { readonly own?: { readonly actionId: string }; readonly id?: string };
}

/** Shown until the server responds. */
function optimisticOf(documents: Documents): NonNullable<CacheExchangeOpts['optimistic']> {
  let comments = 0;
  const row = gql(documents.row);
  const unknown = unknownFields(gql(documents.said));
  const bookmarked = (cache: Cache, id: string, isBookmarked: boolean) => {
    const known = cache.readFragment(row, { __typename: 'Action', id }) as { viewer?: object } | null;
    const viewer = { ...known?.viewer, __typename: 'ActionViewer', isBookmarked };
    return { ...known, __typename: 'Action', id, viewer } as Data;
  };
  return {
    bookmark: ({ actionId }, cache) => bookmarked(cache, actionId as string, true),
    unbookmark: ({ actionId }, cache) => bookmarked(cache, actionId as string, false),
    addInteraction: (args, cache) => {
      const { actionId, kind, text = '' } = (args as unknown as AddArgs).input;
      if (kind !== 'COMMENT') return liked(cache, actionId, true);
      const at = new Date().toISOString();
      const id = `sending-${String((comments += 1))}`;
      const sending = { id, text, at, state: 'VISIBLE', action: { __typename: 'Action', id: actionId } };
      return commented(cache, actionId, 1, { ...unknown, __typename: 'Interaction', ...sending });
    },
    removeInteraction: (args, cache) => {
      const { own, id = '' } = (args as unknown as RemoveArgs).input;
      if (own !== undefined) return liked(cache, own.actionId, false);
      const interaction = { __typename: 'Interaction', id };
      const action = cache.resolve(cache.resolve(interaction, 'action') as string, 'id') as string;
      return commented(cache, action, -1, interaction);
    },
  };
}

function liked(cache: Cache, id: string, hasLiked: boolean): Data {
  const action = { __typename: 'Action', id };
  const part = (field: string, of: string) => cache.resolve(cache.resolve(action, field) as string, of);
  const likes = Number(part('engagement', 'likes')) + Number(hasLiked) - Number(part('viewer', 'hasLiked'));
  const engagement = { __typename: 'Engagement', likes };
  const viewer = { __typename: 'ActionViewer', hasLiked };
  return { __typename: 'InteractionPayload', action: { ...action, engagement, viewer } };
}

function commented(cache: Cache, id: string, by: number, interaction: object): Data {
  const action = { __typename: 'Action', id };
  const before = Number(cache.resolve(cache.resolve(action, 'engagement') as string, 'comments'));
  const engagement = { __typename: 'Engagement', comments: Math.max(0, before + by) };
  return { __typename: 'InteractionPayload', action: { ...action, engagement }, interaction };
}
