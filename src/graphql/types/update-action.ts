import { builder } from '../builder.ts';
import { parseActionId } from '../global-id.ts';
import { SHARED } from '../shared-field.ts';
import { Action } from './action.ts';
import { DescriptorInput } from './declared-descriptors.ts';
import { ScopeEnum } from './enums.ts';
import { RefInput } from './ref.ts';

const UpdateActionInput = builder.inputType('UpdateActionInput', {
  description: 'What changes of an action: what is given replaces, what is absent stays.',
  fields: (t) => ({
    descriptor: t.field({ type: DescriptorInput, description: 'What it was about; of the same type.' }),
    refs: t.field({ type: [RefInput], description: 'The things it refers to.' }),
    mentions: t.stringList({ description: 'Ids of the members who are mentioned.' }),
    scope: t.field({
      type: ScopeEnum,
      description:
        'Whom it is for. TEAM and DEPARTMENT: those that the actor has now. Recipients go unless it is RESTRICTED.',
    }),
    recipients: t.stringList({ description: 'Readers of a RESTRICTED action, 1 to 1000 member ids.' }),
    expiresAt: t.field({
      type: 'DateTime',
      description: 'Later than now. From then on it is gone from every way in; null: it stays.',
    }),
  }),
});

builder.objectFields(Action, (t) => ({
  version: t.exposeInt('version', {
    description: 'Raised by every edit; 1 as it was published.',
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
      'The actor, service or admin: edits an action. Who is not addressed any more loses it at once, from every way in; new ' +
      'readers get it in the background. CONFLICT when ifVersion is given and not the version of the action. By somebody other ' +
      'than its actor it is in the moderation log.',
    args: {
      id: t.arg.id({ required: true, description: 'Global id of the action.' }),
      input: t.arg({ type: UpdateActionInput, required: true, description: 'What changes.' }),
      ifVersion: t.arg.int({ description: 'The version that the change is made to; absent: any.' }),
    },
    resolve: (_root, { id, input, ifVersion }, context) =>
      context.mutate((session) =>
        context.services.updateAction(session, parseActionId(id, ['id']), input, ifVersion),
      ),
  }),
);
