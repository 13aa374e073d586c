import { builder } from '../../graphql/builder.ts';
import type { Reads } from '../../graphql/limits/cost.ts';
import type { ListArgument } from '../../graphql/limits/variables.ts';
import { parseActionId } from '../../graphql/global-id.ts';
import { Viewer } from '../viewer/api.ts';
import { MAX_IMPRESSIONS, recordImpressions, showLess, undoShowLess } from './impressions.ts';

const ImpressionInput = builder.inputType('ImpressionInput', {
  description: 'That an action was shown to the viewer.',
  fields: (t) => ({
    actionId: t.id({ required: true, description: 'Global id of the action.' }),
    view: t.string({ description: 'The name of the view in which it was shown. Default: the feed.' }),
    ms: t.int({ description: 'How long it was shown, in milliseconds, at most a day.' }),
  }),
});

builder.mutationFields((t) => ({
  recordImpressions: t.int({
    description: `Records what the viewer was shown, once for each action, view and hour: sending it again changes nothing. At most ${String(MAX_IMPRESSIONS)}. Returns how many were recorded; 0 if the server keeps none (IMPRESSIONS). What the viewer may not see is left out.`,
    args: {
      impressions: t.arg({
        ...{ type: [ImpressionInput], required: true, description: 'What was shown.' },
        extensions: { maxEntries: MAX_IMPRESSIONS } satisfies ListArgument,
      }),
    },
    // Each action is read, since it may not be for the viewer.
    extensions: { reads: MAX_IMPRESSIONS satisfies Reads },
    resolve: (_root, { impressions }, context) => {
      const shown = impressions.map(({ actionId, ...one }, index) => ({
        ...one,
        actionId: parseActionId(actionId, ['impressions', index, 'actionId']),
      }));
      return context.mutate((session) => recordImpressions(context.core, session, shown));
    },
  }),
  showLess: t.field({
    type: Viewer,
    description:
      "Ranks actions of the same actor, and of the same type, lower in the viewer's ranked lists for 30 days: each halves their score. The latest 100 count. NOT_FOUND if the viewer may not see it.",
    args: { actionId: t.arg.id({ required: true, description: 'Global id of the action.' }) },
    async resolve(_root, args, context) {
      const actionId = parseActionId(args.actionId, ['actionId']);
      await context.mutate((session) => showLess(context.core, session, actionId));
      return {};
    },
  }),
  undoShowLess: t.field({
    type: Viewer,
    description: 'Takes showLess back. Has no effect if there is nothing to take back.',
    args: { actionId: t.arg.id({ required: true, description: 'Global id of the action.' }) },
    async resolve(_root, args, context) {
      const actionId = parseActionId(args.actionId, ['actionId']);
      await context.mutate((session) => undoShowLess(context.core, session, actionId));
      return {};
    },
  }),
}));
