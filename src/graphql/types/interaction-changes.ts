import type { ChangedInteraction, OwnInteraction, RemoveInteractionInput } from '../../services/shapes.ts';
import { builder } from '../builder.ts';
import { parseActionId, parseInteractionId } from '../global-id.ts';
import { Action } from './action.ts';
import { Interaction, InteractionKindEnum } from './interaction.ts';
import { addInteraction } from '../../services/interactions/add-interaction.ts';
import {
  hideInteraction,
  unhideInteraction,
  updateInteraction,
} from '../../services/interactions/moderate-interaction.ts';
import { removeInteraction } from '../../services/interactions/remove-interaction.ts';

const RecordInteractionInput = builder.inputType('RecordInteractionInput', {
  description: 'An interaction with an action.',
  fields: (t) => ({
    actionId: t.id({ required: true, description: 'Global id of the action.' }),
    kind: t.field({ type: InteractionKindEnum, required: true, description: 'What was done.' }),
    actorId: t.string({
      description:
        'The member who interacted. Default: the viewer. Another member requires the role service. NOT_FOUND if they may not see the action.',
    }),
    idempotencyKey: t.string({
      description:
        'Unique per action, actor and kind; of a REACTION also per reaction. A retry with the same key changes nothing, even if the interaction has been removed since. Without a key each comment counts; a like, a reshare and each reaction count once per actor.',
    }),
    at: t.field({
      type: 'DateTime',
      description:
        'When it happened. Default: now. A time up to five minutes ahead counts as now; later ones are refused.',
    }),
    text: t.string({ description: 'For COMMENT: 1 to 10,000 characters.' }),
    reaction: t.string({ description: 'Required for REACTION: one of the configured reactions.' }),
    parentId: t.id({
      description:
        'For COMMENT: global id of the comment it replies to, which must not be a reply itself. NOT_FOUND if it is not visible.',
    }),
    data: t.field({ type: 'JSON', description: 'Free data of the application, at most 4 KiB as JSON.' }),
  }),
});

type GivenInteraction = typeof RecordInteractionInput.$inferInput;

function readInteraction({ actionId, parentId, ...input }: GivenInteraction) {
  return {
    ...input,
    actionId: parseActionId(actionId, ['input', 'actionId']),
    parentId: parentId == null ? null : parseInteractionId(parentId, ['input', 'parentId']),
  };
}

const OwnInteractionInput = builder.inputType('OwnInteraction', {
  description: "All of the viewer's interactions of a kind with an action.",
  fields: (t) => ({
    actionId: t.id({ required: true, description: 'Global id of the action.' }),
    kind: t.field({ type: InteractionKindEnum, required: true, description: 'The kind.' }),
    reaction: t.string({ description: 'For REACTION: only this one. Default: all.' }),
  }),
});

const RemoveInteractionInputType = builder.inputType('RemoveInteractionInput', {
  description: 'The interaction to remove.',
  isOneOf: true,
  fields: (t) => ({
    id: t.id({ description: 'Global id of the interaction.' }),
    own: t.field({ type: OwnInteractionInput, description: "The viewer's own interactions." }),
  }),
});

function readRemoval({ id, own }: typeof RemoveInteractionInputType.$inferInput): RemoveInteractionInput {
  if (own == null) return { id: parseInteractionId(id, ['input', 'id']) };
  const given: OwnInteraction = {
    ...own,
    actionId: parseActionId(own.actionId, ['input', 'own', 'actionId']),
  };
  return { own: given };
}

const InteractionPayload = builder.objectRef<ChangedInteraction>('InteractionPayload').implement({
  description: 'An interaction after a change.',
  fields: (t) => ({
    interaction: t.field({
      type: Interaction,
      description: 'Its current state. If several were removed together, the one recorded last.',
      resolve: ({ interaction }) => interaction,
    }),
    action: t.field({
      type: Action,
      description: 'Its action, with the counts after the change.',
      resolve: ({ action }) => action,
    }),
    isReplay: t.exposeBoolean('isReplay', {
      description: 'True if this had been done before and nothing changed.',
    }),
  }),
});

const interactionId = 'Global id of the interaction.';

builder.mutationFields((t) => ({
  addInteraction: t.field({
    type: InteractionPayload,
    description:
      'Records a comment, like, reshare or reaction. Bumps the action in feeds: to the time of the interaction for the people concerned, much less for others. An interaction that is removed and given again does not bump a second time. NOT_FOUND if the actor may not see the action; nothing is written then. CONFLICT if the interaction was recorded before and has been hidden since.',
    args: {
      input: t.arg({ type: RecordInteractionInput, required: true, description: 'The interaction.' }),
    },
    resolve: (_root, { input }, context) =>
      context.mutate((session) => addInteraction(context.core, session, readInteraction(input))),
  }),
  updateInteraction: t.field({
    type: Interaction,
    description:
      'Changes the text of a comment. For its actor and for admins; the moderation log has changes by admins. Bumps nothing. FORBIDDEN for others, NOT_FOUND if the viewer may not see it.',
    args: {
      id: t.arg.id({ required: true, description: interactionId }),
      text: t.arg.string({ required: true, description: '1 to 10,000 characters.' }),
    },
    resolve: (_root, { id, text }, context) =>
      context.mutate((session) =>
        updateInteraction(context.core, session, parseInteractionId(id, ['id']), text),
      ),
  }),
  removeInteraction: t.field({
    type: InteractionPayload,
    description:
      'Removes an interaction. Members may remove their own, services those of the members they name, admins any. Counts, viewer state and scores follow; bumps are kept. Idempotent: a second call is a replay. NOT_FOUND if it never existed.',
    args: {
      input: t.arg({ type: RemoveInteractionInputType, required: true, description: 'Which.' }),
    },
    resolve: (_root, { input }, context) =>
      context.mutate((session) => removeInteraction(context.core, session, readRemoval(input))),
  }),
  hideInteraction: t.field({
    type: Interaction,
    description:
      'Admin: hides an interaction from everybody except admins, immediately. Idempotent and reversible.',
    args: {
      id: t.arg.id({ required: true, description: interactionId }),
      reason: t.arg.string({ description: 'The reason, for the moderation log; at most 2000 characters.' }),
    },
    resolve: (_root, { id, reason }, context) =>
      context.mutate((session) =>
        hideInteraction(context.core, session, parseInteractionId(id, ['id']), reason),
      ),
  }),
  unhideInteraction: t.field({
    type: Interaction,
    description: 'Admin: shows a hidden interaction again. Idempotent.',
    args: { id: t.arg.id({ required: true, description: interactionId }) },
    resolve: (_root, { id }, context) =>
      context.mutate((session) => unhideInteraction(context.core, session, parseInteractionId(id, ['id']))),
  }),
}));
