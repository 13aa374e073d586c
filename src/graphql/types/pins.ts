import { builder } from '../builder.ts';
import { parseActionId } from '../global-id.ts';
import { MAX_PINNED, pinAction, readPinned, unpinAction } from '../../services/moderation/pin-action.ts';
import type { ListSize } from '../limits/cost.ts';
import { Action } from './action.ts';
import { Ref } from './ref.ts';

builder.objectField(Ref, 'pinned', (t) =>
  t.field({
    type: [Action],
    description: `Actions pinned to the top of its page that the viewer may see, at most ${String(MAX_PINNED)}, latest pin first.`,
    extensions: { size: MAX_PINNED satisfies ListSize },
    resolve: ({ refId }, _args, context) => readPinned(context.session(), refId),
  }),
);

const args = {
  refId: "The host application's own id of the thing.",
  actionId: 'Global id of the action.',
};

builder.mutationFields((t) => ({
  pinAction: t.field({
    type: Ref,
    description:
      'Admin and service: pins an action to the top of the page of one of its refs. CONFLICT for a fourth pin. Idempotent.',
    args: {
      refId: t.arg.string({ required: true, description: args.refId }),
      actionId: t.arg.id({ required: true, description: args.actionId }),
    },
    resolve: (_root, { refId, actionId }, context) =>
      context.mutate((session) =>
        pinAction(context.core, session, refId, parseActionId(actionId, ['actionId'])),
      ),
  }),
  unpinAction: t.field({
    type: Ref,
    description: 'Admin and service: removes a pin. Idempotent.',
    args: {
      refId: t.arg.string({ required: true, description: args.refId }),
      actionId: t.arg.id({ required: true, description: args.actionId }),
    },
    resolve: (_root, { refId, actionId }, context) =>
      context.mutate((session) =>
        unpinAction(context.core, session, refId, parseActionId(actionId, ['actionId'])),
      ),
  }),
}));
