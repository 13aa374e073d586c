import { builder } from '../builder.ts';
import { parseActionId } from '../global-id.ts';
import { SHARED } from '../shared-field.ts';
import { Action } from './action.ts';
import { DescriptorInput } from './declared-descriptors.ts';
import { ScopeEnum } from './enums.ts';
import { RefInput } from './ref.ts';
import { updateAction } from '../../services/publish/update-action.ts';

const UpdateActionInput = builder.inputType('UpdateActionInput', {
  description: 'Changes of an action: given fields replace the current values, absent fields stay.',
  fields: (t) => ({
    descriptor: t.field({ type: DescriptorInput, description: 'The new descriptor, of the same type.' }),
    refs: t.field({ type: [RefInput], description: 'The things it refers to.' }),
    mentions: t.stringList({ description: 'Ids of the members who are mentioned.' }),
    scope: t.field({
      type: ScopeEnum,
      description:
        "Its audience. TEAM and DEPARTMENT are the actor's current ones. Recipients are removed unless it is RESTRICTED.",
    }),
    recipients: t.stringList({ description: 'Readers of a RESTRICTED action, 1 to 1000 member ids.' }),
    expiresAt: t.field({
      type: 'DateTime',
      description: 'When it is removed everywhere: later than now and than `conducted`; null: never.',
    }),
  }),
});

builder.objectFields(Action, (t) => ({
  version: t.exposeInt('version', {
    description: '1 when published; incremented by every edit.',
    extensions: SHARED,
  }),
  editedAt: t.expose('editedAt', {
    type: 'DateTime',
    nullable: true,
    description: 'When it was last edited; null: never.',
    extensions: SHARED,
  }),
}));

builder.mutationField('updateAction', (t) =>
  t.field({
    type: Action,
    description:
      'The actor, a service or an admin: edits an action. Readers who are no longer addressed can no longer see it, from then on; new readers get it in the background. CONFLICT if ifVersion is not the current version. The moderation log has edits by anyone except the actor.',
    args: {
      id: t.arg.id({ required: true, description: 'Global id of the action.' }),
      input: t.arg({ type: UpdateActionInput, required: true, description: 'The changes.' }),
      ifVersion: t.arg.int({ description: 'The version to be changed. Default: any.' }),
    },
    resolve: (_root, { id, input, ifVersion }, context) =>
      context.mutate((session) =>
        updateAction(context.core, session, parseActionId(id, ['id']), input, ifVersion),
      ),
  }),
);
