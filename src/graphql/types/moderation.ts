import { MODERATION_KINDS, type ModerationKind, type ModerationRecord } from '../../domain/moderation.ts';
import { builder } from '../builder.ts';
import { defineConnection, PAGE_COST, pageArgs, toConnection } from '../connection.ts';
import { encodeActionId, encodeInteractionId, parseActionId } from '../global-id.ts';
import { Action } from './action.ts';
import { described } from './enums.ts';
import {
  deleteAction,
  hideAction,
  readModerationLog,
  unhideAction,
} from '../../services/moderation/moderate-action.ts';

const ModerationKindEnum = builder.enumType('ModerationKind', {
  description: 'What a moderator did.',
  values: described<ModerationKind>(MODERATION_KINDS, {
    HIDE: 'The action was hidden from everybody except admins.',
    UNHIDE: 'The action was shown again.',
    DELETE: 'The action was deleted permanently.',
    EDIT: 'The action was edited by somebody other than its actor.',
    HIDE_INTERACTION: 'An interaction was hidden from everybody except admins.',
    UNHIDE_INTERACTION: 'An interaction was shown again.',
    EDIT_INTERACTION: 'An admin changed the text of a comment.',
  }),
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
    kind: t.field({ type: ModerationKindEnum, description: 'What was done.', resolve: ({ kind }) => kind }),
    by: t.exposeString('by', { description: 'Member id of the moderator.' }),
    at: t.field({ type: 'DateTime', description: 'When it happened.', resolve: ({ at }) => at }),
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
