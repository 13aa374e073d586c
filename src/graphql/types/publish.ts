import type { PublishedAction, PublishOutcome } from '../../services/shapes.ts';
import { builder } from '../builder.ts';
import type { ListArgument } from '../limits/variables.ts';
import { Action } from './action.ts';
import { DescriptorInput } from './declared-descriptors.ts';
import { ScopeEnum } from './enums.ts';
import { RefInput } from './ref.ts';

/** Maximum inputs of one `publishActions`: enforced by the service, used here for the cost. */
const MAX_INPUTS = 500;

const PublishActionInput = builder.inputType('PublishActionInput', {
  description: 'An action to record.',
  fields: (t) => ({
    idempotencyKey: t.string({
      description: 'Unique per actor; a retry with the same key returns the first action.',
    }),
    actorId: t.string({ description: 'Default: the viewer. Another actor needs the role service.' }),
    conducted: t.field({
      type: 'DateTime',
      description: 'Default: now. Not more than five minutes in the future.',
    }),
    expiresAt: t.field({
      type: 'DateTime',
      description: 'Later than now. From then on it is gone from every way in. Default: it stays.',
    }),
    scope: t.field({ type: ScopeEnum, defaultValue: 'FOLLOWERS', description: 'Whom it is for.' }),
    recipients: t.stringList({ description: 'Readers of a RESTRICTED action, 1 to 1000 member ids.' }),
    mentions: t.stringList({ description: 'Ids of the members who are mentioned.' }),
    refs: t.field({ type: [RefInput], description: 'The things it refers to.' }),
    descriptor: t.field({ type: DescriptorInput, required: true, description: 'What it was about.' }),
  }),
});

const PublishActionPayload = builder.objectRef<PublishedAction>('PublishActionPayload').implement({
  description: 'A recorded action.',
  fields: (t) => ({
    action: t.field({ type: Action, description: 'The action.', resolve: ({ action }) => action }),
    isReplay: t.exposeBoolean('isReplay', {
      description: 'True when the idempotency key was known and this is the action recorded then.',
    }),
  }),
});

const PublishActionError = builder
  .objectRef<NonNullable<PublishOutcome['error']>>('PublishActionError')
  .implement({
    description: 'Why an action of a batch was not recorded.',
    fields: (t) => ({
      code: t.exposeString('code', { description: 'A code of the API, as in the extensions of errors.' }),
      message: t.exposeString('message', { description: 'What is wrong.' }),
    }),
  });

const PublishActionResult = builder.objectRef<PublishOutcome>('PublishActionResult').implement({
  description: 'What became of one action of a batch: the action or the error.',
  fields: (t) => ({
    action: t.field({
      type: Action,
      nullable: true,
      description: 'The action; null when it was not recorded.',
      resolve: ({ action }) => action,
    }),
    isReplay: t.exposeBoolean('isReplay', {
      description: 'True when the idempotency key was known and this is the action recorded then.',
    }),
    error: t.field({
      type: PublishActionError,
      nullable: true,
      description: 'Why it was not recorded; null when it was.',
      resolve: ({ error }) => error,
    }),
  }),
});

builder.mutationFields((t) => ({
  publishAction: t.field({
    type: PublishActionPayload,
    description: 'Records an action and delivers it to feeds in the background.',
    args: { input: t.arg({ type: PublishActionInput, required: true, description: 'The action.' }) },
    resolve: (_root, { input }, context) =>
      context.mutate(({ identity }) => context.services.publishAction(identity, input)),
  }),
  publishActions: t.field({
    type: [PublishActionResult],
    description: `At most ${String(MAX_INPUTS)}; each entry succeeds or fails on its own. Results in the order of the inputs.`,
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
          'Nobody waits for them: they are delivered after everything else. More than 20 always are.',
      }),
    },
    extensions: { size: { lengthOf: 'inputs', max: MAX_INPUTS } },
    resolve: (_root, { inputs, isBulk }, context) =>
      context.mutate(({ identity }) =>
        context.services.publishActions(identity, inputs, { isBulk: isBulk ?? false }),
      ),
  }),
}));
