import { MODERATION_KINDS, type ModerationKind, type ModerationRecord } from '../../domain/moderation.ts';
import { builder } from '../builder.ts';
import { defineConnection, PAGE_COST, pageArgs, toConnection } from '../connection.ts';
import { encodeActionId, encodeInteractionId, parseActionId } from '../global-id.ts';
import { Action } from './action.ts';
import { described } from './enums.ts';

const ModerationKindEnum = builder.enumType('ModerationKind', {
  description: 'What was done to an action.',
  values: described<ModerationKind>(MODERATION_KINDS, {
    HIDE: 'Hidden from everybody but admins.',
    UNHIDE: 'Shown again.',
    DELETE: 'Deleted for good.',
    EDIT: 'Edited by somebody other than its actor.',
    HIDE_INTERACTION: 'An interaction was hidden from everybody but admins.',
    UNHIDE_INTERACTION: 'An interaction was shown again.',
    EDIT_INTERACTION: 'A comment was given another text by an admin.',
  }),
});

const ModerationEntry = builder.objectRef<ModerationRecord>('ModerationEntry').implement({
  description: 'Who did what to an action, when and why.',
  fields: (t) => ({
    actionId: t.id({
      description: 'Global id of the action; it may be gone.',
      resolve: ({ actionId }) => encodeActionId(actionId),
    }),
    interactionId: t.id({
      nullable: true,
      description: 'Global id of the interaction it was done to; null: it was done to the action.',
      resolve: ({ interactionId }) => (interactionId === null ? null : encodeInteractionId(interactionId)),
    }),
    kind: t.field({ type: ModerationKindEnum, description: 'What.', resolve: ({ kind }) => kind }),
    by: t.exposeString('by', { description: 'Member id of who did it.' }),
    at: t.field({ type: 'DateTime', description: 'When.', resolve: ({ at }) => at }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why, as they said.' }),
  }),
});

const ModerationConnection = defineConnection<ModerationRecord>(
  'Moderation',
  ModerationEntry,
  'the entries of the moderation log',
);

const DeleteActionPayload = builder.objectRef<{ readonly id: string }>('DeleteActionPayload').implement({
  description: 'What was deleted.',
  fields: (t) => ({ id: t.exposeID('id', { description: 'Global id of the action.' }) }),
});

const idArg = 'Global id of the action.';

builder.mutationFields((t) => ({
  hideAction: t.field({
    type: Action,
    description: 'Admin. Hides an action from everybody but admins, at once. Idempotent, reversible.',
    args: {
      id: t.arg.id({ required: true, description: idArg }),
      reason: t.arg.string({ description: 'Why, for the moderation log; at most 2000 characters.' }),
    },
    resolve: (_root, { id, reason }, context) =>
      context.mutate((session) => context.services.hideAction(session, parseActionId(id, ['id']), reason)),
  }),
  unhideAction: t.field({
    type: Action,
    description: 'Admin. Shows a hidden action again. Idempotent.',
    args: { id: t.arg.id({ required: true, description: idArg }) },
    resolve: (_root, { id }, context) =>
      context.mutate((session) => context.services.unhideAction(session, parseActionId(id, ['id']))),
  }),
  deleteAction: t.field({
    type: DeleteActionPayload,
    description: 'Admin, or the actor. Idempotent: deleting twice is not an error.',
    args: { id: t.arg.id({ required: true, description: idArg }) },
    async resolve(_root, { id }, context) {
      await context.mutate((session) => context.services.deleteAction(session, parseActionId(id, ['id'])));
      return { id };
    },
  }),
}));

builder.queryField('moderationLog', (t) =>
  t.field({
    type: ModerationConnection,
    description: 'Admin: who did what to which action, newest first.',
    args: {
      actionId: t.arg.id({ description: 'Only what was done to this action.' }),
      ...pageArgs(),
    },
    extensions: PAGE_COST,
    resolve: async (_root, { actionId, ...args }, context) =>
      toConnection(
        await context.services.readModerationLog(context.session(), {
          ...args,
          actionId: actionId == null ? null : parseActionId(actionId, ['actionId']),
        }),
        args,
      ),
  }),
);
