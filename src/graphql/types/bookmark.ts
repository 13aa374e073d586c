import { builder } from '../builder.ts';
import { PAGE_COST, pageArgs, toConnection } from '../connection.ts';
import { parseActionId } from '../global-id.ts';
import { Action, ActionConnection } from './action.ts';
import { Viewer } from './viewer.ts';
import { bookmark, readBookmarks, unbookmark } from '../../services/feed/items/bookmarks.ts';

builder.objectFields(Viewer, (t) => ({
  bookmarks: t.field({
    type: ActionConnection,
    description:
      'Bookmarked actions that the viewer may still see, newest bookmark first. Mutes and marks of the feed do not affect them.',
    args: pageArgs(),
    extensions: PAGE_COST,
    resolve: async (_source, args, context) =>
      toConnection(await readBookmarks(context.core, context.session(), args), args),
  }),
}));

builder.mutationFields((t) => ({
  bookmark: t.field({
    type: Action,
    description:
      'Bookmarks an action. Idempotent. NOT_FOUND if the viewer may not see it, CONFLICT beyond 10,000 bookmarks.',
    args: { actionId: t.arg.id({ required: true, description: 'Global id of the action.' }) },
    resolve: (_root, { actionId }, context) =>
      context.mutate((session) => bookmark(context.core, session, parseActionId(actionId, ['actionId']))),
  }),
  unbookmark: t.field({
    type: Action,
    description: 'Removes a bookmark. NOT_FOUND if the viewer may not see the action.',
    args: { actionId: t.arg.id({ required: true, description: 'Global id of the action.' }) },
    resolve: (_root, { actionId }, context) =>
      context.mutate((session) => unbookmark(context.core, session, parseActionId(actionId, ['actionId']))),
  }),
}));
