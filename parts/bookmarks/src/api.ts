import { builder } from '../../../src/graphql/builder.ts';
import { PAGE_COST, pageArgs, toConnection } from '../../../src/graphql/connection.ts';
import { parseActionId } from '../../../src/graphql/global-id.ts';
import { Action, ActionConnection } from '../../../src/features/actions/api/action.ts';
import { Viewer } from '../../../src/features/viewer/api.ts';
import { ActionViewer } from '../../../src/features/interactions/api.ts';
import { bookmark, BOOKMARKED, readBookmarks, unbookmark } from './use-cases.ts';

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

builder.objectField(ActionViewer, 'isBookmarked', (t) =>
  t.boolean({
    description: 'Whether they have bookmarked it.',
    resolve: async ({ id }, _args, context) => (await context.session().load(BOOKMARKED, id)) !== null,
  }),
);

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
