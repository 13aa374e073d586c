import type { ActionId } from '../../domain/action.ts';
import { builder } from '../../graphql/builder.ts';
import { PAGE_COST, pageArgs, toConnection } from '../../graphql/connection.ts';
import type { GraphQLContext } from '../../graphql/context.ts';
import { encodeActionId, encodeNewsfeedItemId, parseActionId } from '../../graphql/global-id.ts';
import { ActionConnection } from '../../graphql/types/action.ts';
import { NewsfeedItem } from '../../feed/api/feed.ts';
import { Viewer } from '../../graphql/types/viewer.ts';
import { getNewsfeedItem } from '../../feed/page/get-item.ts';
import {
  archiveFeedItem,
  hideFeedItem,
  readHiddenItems,
  unarchiveFeedItem,
  unhideFeedItem,
  markItemsRead,
  markItemsUnread,
  snoozeFeedItem,
  unsnoozeFeedItem,
} from './marks.ts';

const FeedItemPayload = builder.objectRef<{ readonly actionId: ActionId }>('FeedItemPayload').implement({
  description: "The viewer's item of an action after the change.",
  fields: (t) => ({
    itemId: t.id({
      description: 'Global id of the item, even if it is not in the feed.',
      resolve: ({ actionId }, _args, context) => encodeNewsfeedItemId(context.identity().userId, actionId),
    }),
    actionId: t.id({
      description: 'Global id of its action.',
      resolve: ({ actionId }) => encodeActionId(actionId),
    }),
    item: t.field({
      type: NewsfeedItem,
      nullable: true,
      description: 'The item; null if the viewer has none for this action, or has hidden it.',
      resolve: ({ actionId }, _args, context) => getNewsfeedItem(context.core, context.session(), actionId),
    }),
  }),
});

builder.objectFields(Viewer, (t) => ({
  hiddenItems: t.field({
    type: ActionConnection,
    description: 'Actions that the viewer hid from their own feed and may still see, newest first.',
    args: pageArgs(),
    extensions: PAGE_COST,
    resolve: async (_source, args, context) =>
      toConnection(await readHiddenItems(context.core, context.session(), args), args),
  }),
}));

const actionIdArg = { required: true, description: 'Global id of the action.' } as const;

/** Each takes an action and changes the state of the viewer's item. */
const CHANGES = {
  hideFeedItem: [
    hideFeedItem,
    "Hides an action from the viewer's own feed only, also when it is delivered again. An archived or snoozed item becomes hidden instead. NOT_FOUND if the viewer may not see the action.",
  ],
  unhideFeedItem: [
    unhideFeedItem,
    "Shows a hidden action in the viewer's own feed again. NOT_FOUND if the viewer may not see the action.",
  ],
  archiveFeedItem: [
    archiveFeedItem,
    'Archives an item: it leaves the feed and a bump does not bring it back. A hidden or snoozed item becomes archived instead. NOT_FOUND if the viewer may not see the action, CONFLICT beyond 10,000.',
  ],
  unarchiveFeedItem: [
    unarchiveFeedItem,
    'Returns an archived item to the feed. NOT_FOUND if the viewer may not see the action.',
  ],
  unsnoozeFeedItem: [
    unsnoozeFeedItem,
    'Returns a snoozed item to the feed, at its position without the snooze. If the snooze has already ended, the item keeps its position. NOT_FOUND if the viewer may not see the action.',
  ],
} as const;

for (const [name, [change, description]] of Object.entries(CHANGES))
  builder.mutationField(name, (t) =>
    t.field({
      type: FeedItemPayload,
      description,
      args: { actionId: t.arg.id(actionIdArg) },
      async resolve(_root, args, context) {
        const actionId = parseActionId(args.actionId, ['actionId']);
        await context.mutate((session) => change(context.core, session, actionId));
        return { actionId };
      },
    }),
  );

async function marked(
  context: GraphQLContext,
  mark: typeof markItemsRead,
  actionIds: readonly string[],
): Promise<object> {
  const ids = actionIds.map((actionId, index) => parseActionId(actionId, ['actionIds', index]));
  await context.mutate((session) => mark(context.core, session, ids));
  return {};
}

builder.mutationFields((t) => ({
  snoozeFeedItem: t.field({
    type: FeedItemPayload,
    description:
      'Removes an item from the feed until the given time; then it comes back on top, unread, with a live event. A bump does not bring it back earlier. A hidden or archived item becomes snoozed instead. NOT_FOUND if the viewer may not see the action, CONFLICT beyond 500.',
    args: {
      actionId: t.arg.id(actionIdArg),
      until: t.arg({
        type: 'DateTime',
        required: true,
        description: 'In the future, at most a year from now.',
      }),
    },
    async resolve(_root, { until, ...args }, context) {
      const actionId = parseActionId(args.actionId, ['actionId']);
      await context.mutate((session) => snoozeFeedItem(context.core, session, actionId, until));
      return { actionId };
    },
  }),
  markItemsRead: t.field({
    type: Viewer,
    description:
      'Marks items as read, independently of markFeedRead; a later bump makes an item unread again. At most 100 actions. NOT_FOUND if the viewer may not see one of them; then none is marked.',
    args: { actionIds: t.arg.idList({ required: true, description: 'Global ids of the actions.' }) },
    resolve: (_root, { actionIds }, context) => marked(context, markItemsRead, actionIds),
  }),
  markItemsUnread: t.field({
    type: Viewer,
    description:
      'Marks items as unread, independently of markFeedRead, until markItemsRead. At most 100 actions; CONFLICT beyond 1,000 unread marks in total. NOT_FOUND if the viewer may not see one of them; then none is marked.',
    args: { actionIds: t.arg.idList({ required: true, description: 'Global ids of the actions.' }) },
    resolve: (_root, { actionIds }, context) => marked(context, markItemsUnread, actionIds),
  }),
}));
