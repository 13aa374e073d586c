import { type ModerationKind, type ModerationRecord } from '../../domain/action.ts';
import { builder } from '../../graphql/builder.ts';
import { defineConnection, PAGE_COST, pageArgs, toConnection } from '../../graphql/connection.ts';
import { encodeActionId, encodeInteractionId, parseActionId } from '../../graphql/global-id.ts';
import { Action } from '../actions/api/action.ts';
import { describedEnum } from '../../graphql/types/enums.ts';
import { deleteAction, hideAction, readModerationLog, unhideAction } from './moderate-action.ts';
import { MAX_PINNED, pinAction, readPinned, unpinAction } from './pin-action.ts';
import type { ListSize } from '../../graphql/limits/cost.ts';
import { isNobody, Ref } from '../directory/api/ref.ts';

builder.objectField(Ref, 'pinned', (t) =>
  t.field({
    type: [Action],
    description: `Actions pinned to the top of its page that the viewer may see, at most ${String(MAX_PINNED)}, latest pin first.`,
    extensions: { size: MAX_PINNED satisfies ListSize },
    resolve: (source, _args, context) =>
      isNobody(source) ? [] : readPinned(context.session(), source.refId),
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

const ModerationKindEnum = describedEnum<ModerationKind>('ModerationKind', 'What a moderator did.', {
  HIDE: 'The action was hidden from everybody except admins.',
  UNHIDE: 'The action was shown again.',
  DELETE: 'The action was deleted permanently.',
  EDIT: 'The action was edited by somebody other than its actor.',
  HIDE_INTERACTION: 'An interaction was hidden from everybody except admins.',
  UNHIDE_INTERACTION: 'An interaction was shown again.',
  EDIT_INTERACTION: 'An admin changed the text of a comment.',
});

const ModerationEntry = builder.objectRef<ModerationRecord>('ModerationEntry').implement({
  description: 'A moderation of an action: who, what, when and why.',
  fields: (t) => ({
    actionId: t.id({
      description: 'Global id of the action, which may no longer exist.',
      resolve: ({ actionId }) => encodeActionId(actionId),
    }),
    interactionId: t.id({
      nullable: true,
      description: 'Global id of the interaction concerned; null: the action itself.',
      resolve: ({ interactionId }) => (interactionId === null ? null : encodeInteractionId(interactionId)),
    }),
    kind: t.expose('kind', { type: ModerationKindEnum, description: 'What was done.' }),
    by: t.exposeString('by', { description: 'Member id of the moderator.' }),
    at: t.expose('at', { type: 'DateTime', description: 'When it happened.' }),
    reason: t.exposeString('reason', { nullable: true, description: 'The reason given.' }),
  }),
});

const ModerationConnection = defineConnection<ModerationRecord>(
  'Moderation',
  ModerationEntry,
  'the entries of the moderation log',
);

const DeleteActionPayload = builder.objectRef<{ readonly id: string }>('DeleteActionPayload').implement({
  description: 'The deleted action.',
  fields: (t) => ({ id: t.exposeID('id', { description: 'Global id of the action.' }) }),
});

const idArg = 'Global id of the action.';

builder.mutationFields((t) => ({
  hideAction: t.field({
    type: Action,
    description:
      'Admin: hides an action from everybody except admins, immediately. Idempotent and reversible.',
    args: {
      id: t.arg.id({ required: true, description: idArg }),
      reason: t.arg.string({ description: 'The reason, for the moderation log; at most 2000 characters.' }),
    },
    resolve: (_root, { id, reason }, context) =>
      context.mutate((session) => hideAction(context.core, session, parseActionId(id, ['id']), reason)),
  }),
  unhideAction: t.field({
    type: Action,
    description: 'Admin: shows a hidden action again. Idempotent.',
    args: { id: t.arg.id({ required: true, description: idArg }) },
    resolve: (_root, { id }, context) =>
      context.mutate((session) => unhideAction(context.core, session, parseActionId(id, ['id']))),
  }),
  deleteAction: t.field({
    type: DeleteActionPayload,
    description: 'Admin or the actor: deletes an action. Idempotent.',
    args: { id: t.arg.id({ required: true, description: idArg }) },
    async resolve(_root, { id }, context) {
      await context.mutate((session) => deleteAction(context.core, session, parseActionId(id, ['id'])));
      return { id };
    },
  }),
}));

builder.queryField('moderationLog', (t) =>
  t.field({
    type: ModerationConnection,
    description: 'Admin: the moderation log, newest first.',
    args: {
      actionId: t.arg.id({ description: 'Only entries about this action.' }),
      ...pageArgs(),
    },
    extensions: PAGE_COST,
    resolve: async (_root, { actionId, ...args }, context) =>
      toConnection(
        await readModerationLog(context.core, context.session(), {
          ...args,
          actionId: actionId == null ? null : parseActionId(actionId, ['actionId']),
        }),
        args,
      ),
  }),
);
