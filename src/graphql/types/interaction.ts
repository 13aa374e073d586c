import { INTERACTION_KINDS, type InteractionKind } from '../../domain/relevancy.ts';
import { builder } from '../builder.ts';
import { parseActionId } from '../global-id.ts';
import { Action } from './action.ts';
import { described } from './enums.ts';

const InteractionKindEnum = builder.enumType('InteractionKind', {
  description: 'What somebody did with an action.',
  values: described<InteractionKind>(INTERACTION_KINDS, {
    COMMENT: 'Commented on it.',
    LIKE: 'Liked it.',
    RESHARE: 'Passed it on.',
  }),
});

const RecordInteractionInput = builder.inputType('RecordInteractionInput', {
  description: 'An interaction with an action.',
  fields: (t) => ({
    actionId: t.id({ required: true, description: 'Global id of the action.' }),
    kind: t.field({ type: InteractionKindEnum, required: true, description: 'What was done.' }),
    actorId: t.string({
      description:
        'Who did it. Default: the viewer. Another member needs the role service. What they may not see is NOT_FOUND.',
    }),
    idempotencyKey: t.string({
      description:
        'Unique per action and actor; a retry with the same key counts once. Without a key a second like by the same ' +
        'actor counts once, everything else counts each time.',
    }),
    at: t.field({
      type: 'DateTime',
      description: 'When. Default: now. Not more than five minutes in the future.',
    }),
  }),
});

builder.mutationField('recordInteraction', (t) =>
  t.field({
    type: Action,
    description:
      'Records a comment, like or reshare. Boosts the action in feeds: to the time of the interaction for the people ' +
      'concerned, by far less for the others.',
    args: { input: t.arg({ type: RecordInteractionInput, required: true, description: 'The interaction.' }) },
    resolve: (_root, { input }, context) =>
      context.mutate((session) =>
        context.services.recordInteraction(session, {
          ...input,
          actionId: parseActionId(input.actionId, ['input', 'actionId']),
        }),
      ),
  }),
);
