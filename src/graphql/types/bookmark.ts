import { builder } from '../builder.ts';
import { PAGE_COST, pageArgs, toConnection } from '../connection.ts';
import { parseActionId } from '../global-id.ts';
import { Action, ActionConnection } from './action.ts';
import { Viewer } from './viewer.ts';

builder.objectFields(Viewer, (t) => ({
  bookmarks: t.field({
    type: ActionConnection,
    description:
      'What the viewer keeps for later, the newest bookmark first: what they may see now. Mutes and marks of the feed do ' +
      'not touch it.',
    args: pageArgs(),
    extensions: PAGE_COST,
    resolve: async (_source, args, context) =>
      toConnection(await context.services.readBookmarks(context.session(), args), args),
  }),
}));

builder.mutationFields((t) => ({
  bookmark: t.field({
    type: Action,
    description:
      'Keeps an action for later; once more changes nothing. NOT_FOUND when the viewer may not see it, CONFLICT beyond ' +
      '10,000 bookmarks.',
    args: { actionId: t.arg.id({ required: true, description: 'Global id of the action.' }) },
    resolve: (_root, { actionId }, context) =>
      context.mutate((session) => context.services.bookmark(session, parseActionId(actionId, ['actionId']))),
  }),
  unbookmark: t.field({
    type: Action,
    description: 'Takes an action out of the bookmarks. NOT_FOUND when the viewer may not see it.',
    args: { actionId: t.arg.id({ required: true, description: 'Global id of the action.' }) },
    resolve: (_root, { actionId }, context) =>
      context.mutate((session) =>
        context.services.unbookmark(session, parseActionId(actionId, ['actionId'])),
      ),
  }),
}));
