import { builder } from '../builder.ts';
import { parseActionId } from '../global-id.ts';

builder.mutationFields((t) => ({
  hideFeedItem: t.id({
    description: "Hides an action from the viewer's own feed only. Returns the action's id.",
    args: { actionId: t.arg.id({ required: true, description: 'Global id of the action.' }) },
    async resolve(_root, { actionId }, context) {
      const id = parseActionId(actionId, ['actionId']);
      await context.mutate((session) => context.services.hideFeedItem(session, id));
      return actionId;
    },
  }),
  unhideFeedItem: t.id({
    description: "Shows an action in the viewer's own feed again. Returns the action's id.",
    args: { actionId: t.arg.id({ required: true, description: 'Global id of the action.' }) },
    async resolve(_root, { actionId }, context) {
      const id = parseActionId(actionId, ['actionId']);
      await context.mutate((session) => context.services.unhideFeedItem(session, id));
      return actionId;
    },
  }),
}));
