import type { InputRef } from '@pothos/core';
import { type GraphQLResolveInfo, Kind } from 'graphql';
import { MAX_RESHARES } from '../../../domain/action.ts';
import { LISTED_STATES, rowOf } from '../../../domain/item-states.ts';
import type { NewsfeedItem as NewsfeedItemRecord } from '../../../domain/newsfeed-item.ts';
import type {
  FeedFilter as FeedFilterInput,
  FeedFilterExclusion as FeedFilterExclusionInput,
  FeedOrder,
  FeedPage,
  FirstUnread as FirstUnreadSource,
} from '../../../core/shapes.ts';
import { builder } from '../../../graphql/builder.ts';
import {
  defineConnection,
  PAGE_COST,
  pageArgs,
  toConnection,
  Count,
  TOTAL_COST,
} from '../../../graphql/connection.ts';
import type { Reads } from '../../../graphql/limits/cost.ts';
import { asksForField } from '../../../graphql/live-selection.ts';
import { PLAIN, SHARED } from '../../../graphql/shared-field.ts';
import { Action, ActionConnection, ActionFilter } from '../../actions/api/action.ts';
import { DeliveryReasonEnum, describedEnum, FeedStateEnum } from '../../../graphql/types/enums.ts';
import { Member } from '../../directory/api/member.ts';
import { Node } from '../../../graphql/types/node.ts';
import { UNREAD_COST, UnreadCount } from './unread-count.ts';
import { listArgs, listAsked } from './view-arg.ts';
import { Viewer } from '../../viewer/api.ts';
import { resharedBy } from '../../interactions/read-interactions.ts';
import { DECLARED, type FeedFilterRow } from '../../../feed/page/declared.ts';
import { feedViews } from '../../../feed/page/views.ts';
import { readFeed, type CountsAsked } from '../../../feed/page/read-page.ts';
import { readFeedState, rebuildFeed } from '../../rebuild/rebuild-feed.ts';
import { findFirstUnread, markFeedRead } from '../../../feed/page/unread.ts';
import { readSlice } from '../../../feed/page/read-actions.ts';

builder.queryField('slice', (t) =>
  t.field({
    type: ActionConnection,
    description:
      'All visible actions that carry the ref id, newest first (conducted, then id), without relevancy: the profile of ' +
      'an actor, the page of a thing.',
    args: {
      refId: t.arg.string({ required: true, description: 'Id of the ref or of the actor.' }),
      ...pageArgs(),
      filter: t.arg({ type: ActionFilter, description: 'Only entries that match.' }),
    },
    extensions: PAGE_COST,
    resolve: async (_root, { refId, ...args }, context) =>
      toConnection(await readSlice(context.core, context.session(), refId, args), args),
  }),
);

export const NewsfeedItem = builder.objectRef<NewsfeedItemRecord>('NewsfeedItem').implement({
  description: 'One entry of a feed.',
  interfaces: [Node],
  fields: (t) => ({
    action: t.expose('action', { type: Action, description: 'What happened.', extensions: SHARED }),
    relevancy: t.expose('relevancy', {
      type: 'DateTime',
      description: 'Its position in the feed: later means higher.',
      extensions: PLAIN,
    }),
    reasons: t.field({
      type: [DeliveryReasonEnum],
      description: 'Why it is in the feed.',
      extensions: { ...PLAIN, maxBytes: 128 },
      resolve: ({ reasons }) => [...reasons],
    }),
    resharedBy: t.field({
      type: [Member],
      description: 'Members whom the reader follows and who reshared it, newest first.',
      extensions: { size: { usual: 10, most: MAX_RESHARES } },
      resolve: async (item, _args, context) =>
        (await resharedBy(context.session(), item)).map((userId) => ({ userId })),
    }),
    isUnread: t.exposeBoolean('isUnread', {
      description: 'Whether it is above the position marked as read, or was marked as unread.',
      extensions: PLAIN,
    }),
    ...Object.fromEntries(
      LISTED_STATES.flatMap((listed) => {
        const { field, ends } = rowOf(listed);
        if (field === null) return [];
        const [name, description] = field;
        const of = { description, extensions: PLAIN };
        const shown = ends
          ? t.field({
              ...{ ...of, type: 'DateTime', nullable: true },
              resolve: ({ state, until }) => (state === listed ? until : null),
            })
          : t.boolean({ ...of, resolve: ({ state }) => state === listed });
        return [[name, shown] as const];
      }),
    ),
  }),
});

const FeedConnection = defineConnection<NewsfeedItemRecord, FeedPage>('Feed', NewsfeedItem, 'newsfeed items');

builder.objectFields(FeedConnection, (t) => ({
  total: t.field({
    type: Count,
    description:
      'Number of visible entries in the whole list that match its filter, from the same read as the page.',
    extensions: TOTAL_COST,
    resolve: ({ page }) => page.countTotal(),
  }),
  liveCursor: t.string({
    description:
      'Taken before the page was read: feedEvents(after: liveCursor) returns everything that is not on the page, or FeedResync. Valid as long as other cursors of events.',
    resolve: ({ page }) => page.liveCursor ?? '',
  }),
  unread: t.field({
    type: UnreadCount,
    description: 'Unread entries of this list that match its filter, from the same read as the page.',
    extensions: UNREAD_COST,
    resolve: ({ page }) => page.countUnread(),
  }),
  state: t.field({
    type: FeedStateEnum,
    description: 'Whether the feed is complete.',
    resolve: ({ page }) => page.state,
  }),
}));

const FirstUnread = builder.objectRef<FirstUnreadSource>('FirstUnread').implement({
  description: 'The position where the viewer stopped reading.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', {
      description:
        'Pass it as `after` of the feed in the order RELEVANCY, or of the view or list that was asked about: the page then starts with the item.',
    }),
    item: t.expose('item', { type: NewsfeedItem, description: 'The oldest unread item.' }),
    isExact: t.exposeBoolean('isExact', {
      description: 'False if more than 1,000 items are unread: then it is the oldest of the newest 1,000.',
    }),
  }),
});

/** Far more ids than a page has, but whole actions only of a batch of them. */
const SEARCH: Reads = 25;

builder.objectFields(Viewer, (t) => ({
  firstUnread: t.field({
    type: FirstUnread,
    nullable: true,
    description:
      'The oldest unread item of the feed, a view or a list; null if everything has been read, and for a view in another order than RELEVANCY.',
    args: listArgs(t.arg),
    extensions: { reads: SEARCH },
    resolve: (_source, args, context) => findFirstUnread(context.core, context.session(), listAsked(args)),
  }),
}));

type Row = FeedFilterRow<unknown>;

const FeedFilterExclusion = builder.inputRef<FeedFilterExclusionInput>('FeedFilterExclusion').implement({
  description: 'Leaves out entries of a feed that have any of these.',
  fields: (t) => ({
    types: t.stringList({ description: 'Actions of these types. An unknown one is BAD_USER_INPUT.' }),
    tags: t.stringList({ description: 'Actions with one of these tags.' }),
    actorIds: t.stringList({ description: 'Actions by these actors.' }),
    refIds: t.stringList({ description: 'Actions that carry one of these ref ids.' }),
    reasons: t.field({
      type: [DeliveryReasonEnum],
      description: 'Items in the feed for one of these reasons, whatever other reasons they are in it for.',
    }),
  }),
});

export const FeedFilter: InputRef<FeedFilterInput> = builder
  .inputRef<FeedFilterInput>('FeedFilter')
  .implement({
    description: 'Selects entries of a feed that meet all given conditions.',
    fields: (t) => {
      const inputs = {
        FLAG: ({ description, state }: Row) =>
          t.boolean({ description, ...(state === undefined ? {} : { defaultValue: false }) }),
        ID: ({ description }: Row) => t.string({ description }),
        IDS: ({ description }: Row) => t.stringList({ description }),
        TEXT: ({ description, most = 0 }: Row) => t.string({ description, extensions: { reads: most } }),
        REASONS: ({ description }: Row) => t.field({ description, type: [DeliveryReasonEnum] }),
        TIME: ({ description }: Row) => t.field({ description, type: 'DateTime' }),
        EXCLUSION: ({ description }: Row) => t.field({ description, type: FeedFilterExclusion }),
      };
      const fields = [...DECLARED.filters.values()].map((row) => [row.name, inputs[row.input](row)] as const);
      return Object.fromEntries(fields);
    },
  });

/** The counts that a query of a feed asks for. */
export function countsAsked(info: GraphQLResolveInfo): CountsAsked {
  return { withTotal: asksForField(info, 'total'), withUnread: asksForField(info, 'unread') };
}

const orders = DECLARED.offeredOrders;

export const FeedOrderEnum = describedEnum<FeedOrder>(
  'FeedOrder',
  'How a feed is ordered.',
  Object.fromEntries(orders.map(({ name, description }) => [name, description])) as Record<FeedOrder, string>,
);
const READS_BY_ORDER = {
  argument: 'order',
  counts: Object.fromEntries(orders.map(({ name, reads = 0 }) => [name, reads])),
};

/** A view costs what its order reads, and what its filter looks at. */
export const READS_BY_VIEW = {
  argument: 'view',
  // The configuration may come after the fields.
  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(
      feedViews().map(({ name, order, filter }) => {
        const among = Object.keys(filter).map((row) => DECLARED.filters.get(row)?.most ?? 0);
        const { reads = 0 } = DECLARED.order(order ?? 'RELEVANCY');
        return [name, reads + Math.max(0, ...among)];
      }),
    );
  },
};

/** Whether an argument is given, if only by a variable, and not just its default. */
function isGiven({ fieldNodes: [node], variableValues }: GraphQLResolveInfo, name: string): boolean {
  const value = node?.arguments?.find((argument) => argument.name.value === name)?.value;
  return (
    value !== undefined && (value.kind !== Kind.VARIABLE || variableValues[value.name.value] !== undefined)
  );
}

builder.queryField('feed', (t) =>
  t.field({
    type: FeedConnection,
    description: "The viewer's feed.",
    args: {
      ...pageArgs(),
      ...listArgs(t.arg),
      filter: t.arg({ type: FeedFilter, description: 'Only entries that match.' }),
      order: t.arg({
        type: FeedOrderEnum,
        defaultValue: 'RELEVANCY',
        description: 'The order. A view has an order of its own: BAD_USER_INPUT beside `view`.',
      }),
    },
    extensions: { ...PAGE_COST, reads: [READS_BY_ORDER, READS_BY_VIEW] satisfies Reads },
    async resolve(_root, args, context, info) {
      const withLiveCursor = asksForField(info, 'liveCursor');
      const order = isGiven(info, 'order') ? args.order : null;
      const asked = { ...args, ...listAsked(args), order, ...countsAsked(info), withLiveCursor };
      return toConnection(await readFeed(context.core, context.session(), asked), args);
    },
  }),
);

builder.mutationField('markFeedRead', (t) =>
  t.field({
    type: Viewer,
    description:
      'Marks everything of the feed, or of a view, up to this relevancy as read; never moves backwards.',
    args: {
      upTo: t.arg({
        type: 'DateTime',
        required: true,
        description: 'The relevancy of the topmost item seen.',
      }),
      view: t.arg.string({
        description:
          'The name of a view: moves its own read mark or, if it has none, that of the feed. Default: the feed. BAD_USER_INPUT: there is no such view.',
      }),
      listId: t.arg.id({
        description:
          'Global id of a list of the viewer, which has the read mark of the feed. Not beside `view`.',
      }),
    },
    async resolve(_root, { upTo, ...list }, context) {
      const asked = listAsked(list);
      await context.mutate((session) => markFeedRead(context.core, session, upTo, asked));
      return {};
    },
  }),
);

/** Several commands for one value: as much as a page of so many entries. */
const LOOK_UP: Reads = 50;

builder.queryField('feedState', (t) =>
  t.field({
    type: FeedStateEnum,
    description:
      "Admin: whether a member's stored feed is being rebuilt. NOT_FOUND if nothing is known of the member.",
    args: { memberId: t.arg.string({ required: true, description: 'Whose feed.' }) },
    extensions: { reads: LOOK_UP },
    resolve: (_root, { memberId }, context) =>
      readFeedState(context.core, context.session().identity, memberId),
  }),
);

builder.mutationField('rebuildFeed', (t) =>
  t.field({
    type: FeedStateEnum,
    description:
      "Admin: rebuilds a member's stored feed from the actions. Until that is done, the feed is read from the stored entries and `feedState` is REBUILDING. NOT_FOUND if nothing is known of the member.",
    args: { memberId: t.arg.string({ required: true, description: 'Whose feed.' }) },
    resolve: (_root, { memberId }, context) =>
      context.mutate(({ identity }) => rebuildFeed(context.core, identity, memberId)),
  }),
);
