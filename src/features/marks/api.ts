import type { ActionId } from '../../domain/action.ts';
import { builder } from '../../graphql/builder.ts';
import { PAGE_COST, pageArgs, toConnection } from '../../graphql/connection.ts';
import type { GraphQLContext } from '../../graphql/context.ts';
import { encodeActionId, encodeNewsfeedItemId, parseActionId } from '../../graphql/global-id.ts';
import { ActionConnection } from '../actions/api/action.ts';
import { NewsfeedItem } from '../feed/api/feed.ts';
import { Viewer } from '../viewer/api.ts';
import { getNewsfeedItem } from '../../feed/page/get-item.ts';
import { rowOf, STATE_NAMES } from '../../domain/item-states.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import type { Core } from '../../core/core.ts';
import { clearItemState, readHiddenItems, markItemsRead, markItemsUnread, setItemState } from './marks.ts';

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

const untilArg = {
  type: 'DateTime',
  required: true,
  description: 'In the future, at most a year from now.',
} as const;

for (const state of STATE_NAMES) {
  const { set, clear, ends } = rowOf(state);
  const change = (
    [name, description]: readonly [string, string],
    withUntil: boolean,
    run: (core: Core, session: ReaderSession, actionId: ActionId, until?: Date) => Promise<void>,
  ): void => {
    builder.mutationField(name, (t) =>
      t.field({
        type: FeedItemPayload,
        description,
        args: { actionId: t.arg.id(actionIdArg), ...(withUntil ? { until: t.arg(untilArg) } : {}) },
        async resolve(_root, { until, ...args }, context) {
          const actionId = parseActionId(args.actionId, ['actionId']);
          await context.mutate((session) => run(context.core, session, actionId, until));
          return { actionId };
        },
      }),
    );
  };
  change(set, ends, (core, session, actionId, until) => setItemState(core, session, actionId, state, until));
  change(clear, false, (core, session, actionId) => clearItemState(core, session, actionId, state));
}

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
