import type { PublishedAction, PublishOutcome } from '../../core/shapes.ts';
import { builder } from '../../graphql/builder.ts';
import type { ListArgument } from '../../graphql/limits/variables.ts';
import { Action, ActionConnection } from '../actions/api/action.ts';
import { PAGE_COST, pageArgs, toConnection } from '../../graphql/connection.ts';
import { DescriptorInput } from '../actions/api/declared-descriptors.ts';
import { ScopeEnum } from '../../graphql/types/enums.ts';
import { RefInput } from '../directory/api/ref.ts';
import { publishAction, publishActions } from './publish-action.ts';
import { parseActionId } from '../../graphql/global-id.ts';
import { SHARED } from '../../graphql/shared-field.ts';
import { readScheduled } from './scheduled-actions.ts';
import { updateAction } from './update-action.ts';

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
    publishAt: t.field({
      type: 'DateTime',
      description:
        'Another time to publish a scheduled action: later than now, at most a year ahead. CONFLICT if it is published already.',
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

/** Maximum inputs of one `publishActions`: enforced by the service, used here for the cost. */
const MAX_INPUTS = 500;

const PublishActionInput = builder.inputType('PublishActionInput', {
  description: 'An action to record.',
  fields: (t) => ({
    idempotencyKey: t.string({
      description: 'Unique per actor; a retry with the same key returns the first action.',
    }),
    actorId: t.string({ description: 'Default: the viewer. Another actor requires the role service.' }),
    conducted: t.field({
      type: 'DateTime',
      description: 'Default: now. At most five minutes in the future.',
    }),
    expiresAt: t.field({
      type: 'DateTime',
      description: 'When it is removed everywhere: later than now and than `conducted`. Default: never.',
    }),
    publishAt: t.field({
      type: 'DateTime',
      description:
        'When it is published, in place of `conducted`: later than now, at most a year ahead. Until then only its actor, admins and services see it. CONFLICT for more than 1,000 of one actor. Default: now.',
    }),
    scope: t.field({ type: ScopeEnum, defaultValue: 'FOLLOWERS', description: 'Its audience.' }),
    recipients: t.stringList({ description: 'Readers of a RESTRICTED action, 1 to 1000 member ids.' }),
    mentions: t.stringList({ description: 'Ids of the members who are mentioned.' }),
    refs: t.field({ type: [RefInput], description: 'The things it refers to.' }),
    descriptor: t.field({ type: DescriptorInput, required: true, description: 'What happened.' }),
  }),
});

const PublishActionPayload = builder.objectRef<PublishedAction>('PublishActionPayload').implement({
  description: 'A recorded action.',
  fields: (t) => ({
    action: t.expose('action', { type: Action, description: 'The action.' }),
    isReplay: t.exposeBoolean('isReplay', {
      description: 'True if the idempotency key was known and this is the action recorded then.',
    }),
  }),
});

const PublishActionError = builder
  .objectRef<NonNullable<PublishOutcome['error']>>('PublishActionError')
  .implement({
    description: 'Why an action of a batch was not recorded.',
    fields: (t) => ({
      code: t.exposeString('code', { description: 'An error code of the API, as in `extensions.code`.' }),
      message: t.exposeString('message', { description: 'Description of the error.' }),
    }),
  });

const PublishActionResult = builder.objectRef<PublishOutcome>('PublishActionResult').implement({
  description: 'Result for one action of a batch: the action or the error.',
  fields: (t) => ({
    action: t.expose('action', {
      type: Action,
      nullable: true,
      description: 'The action; null if it was not recorded.',
    }),
    isReplay: t.exposeBoolean('isReplay', {
      description: 'True if the idempotency key was known and this is the action recorded then.',
    }),
    error: t.expose('error', {
      type: PublishActionError,
      nullable: true,
      description: 'Why it was not recorded; null if it was.',
    }),
  }),
});

builder.mutationFields((t) => ({
  publishAction: t.field({
    type: PublishActionPayload,
    description: 'Records an action and delivers it to feeds in the background.',
    args: { input: t.arg({ type: PublishActionInput, required: true, description: 'The action.' }) },
    resolve: (_root, { input }, context) =>
      context.mutate(({ identity }) => publishAction(context.core, identity, input)),
  }),
  publishActions: t.field({
    type: [PublishActionResult],
    description: `Records several actions, at most ${String(MAX_INPUTS)}. Each entry succeeds or fails on its own. Results are in the order of the inputs.`,
    args: {
      inputs: t.arg({
        type: [PublishActionInput],
        required: true,
        description: 'The actions.',
        extensions: { maxEntries: MAX_INPUTS } satisfies ListArgument,
      }),
      isBulk: t.arg.boolean({
        defaultValue: false,
        description:
          'The actions are not urgent and are delivered after everything else. More than 20 always are. From a service it is an import: hooks are not asked, and there is no `item.delivered`.',
      }),
    },
    extensions: { size: { lengthOf: 'inputs', max: MAX_INPUTS } },
    resolve: (_root, { inputs, isBulk }, context) =>
      context.mutate(({ identity }) =>
        publishActions(context.core, identity, inputs, { isBulk: isBulk ?? false }),
      ),
  }),
}));

builder.queryField('scheduledActions', (t) =>
  t.field({
    type: ActionConnection,
    description:
      "Actions that are not published yet, the next first: the viewer's own, and for admins and services those of everybody.",
    args: {
      actorId: t.arg.string({
        description: 'Only those of this member. Another than the viewer requires the role admin or service.',
      }),
      ...pageArgs(),
    },
    extensions: PAGE_COST,
    resolve: async (_root, args, context) =>
      toConnection(await readScheduled(context.core, context.session(), args), args),
  }),
);
