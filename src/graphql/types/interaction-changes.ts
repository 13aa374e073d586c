import type { ChangedInteraction, OwnInteraction, RemoveInteractionInput } from '../../services/shapes.ts';
import { builder } from '../builder.ts';
import { parseActionId, parseInteractionId } from '../global-id.ts';
import { Action } from './action.ts';
import { Interaction, InteractionKindEnum } from './interaction.ts';

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
        'Unique per action, actor and kind; a retry with the same key changes nothing, also where what it gave was ' +
        'taken back. Without a key each comment counts; a like, a reshare and each reaction count once for each actor.',
    }),
    at: t.field({
      type: 'DateTime',
      description: 'When. Default: now. Not more than five minutes in the future.',
    }),
    text: t.string({ description: 'Of a COMMENT: 1 to 10,000 characters.' }),
    reaction: t.string({ description: 'Of a REACTION, which needs it: one of the configured.' }),
    parentId: t.id({
      description:
        'Of a COMMENT: global id of the comment it replies to, which replies to none itself. Not visible: NOT_FOUND.',
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
    kind: t.field({ type: InteractionKindEnum, required: true, description: 'Of this kind.' }),
    reaction: t.string({ description: 'Of a REACTION: only this one; absent: all of them.' }),
  }),
});

const RemoveInteractionInputType = builder.inputType('RemoveInteractionInput', {
  description: 'What to take back.',
  isOneOf: true,
  fields: (t) => ({
    id: t.id({ description: 'Global id of the interaction.' }),
    own: t.field({ type: OwnInteractionInput, description: 'What the viewer did.' }),
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
      description: 'As it is now. Of several that were removed together, the one recorded last.',
      resolve: ({ interaction }) => interaction,
    }),
    action: t.field({
      type: Action,
      description: 'Its action, with the counts after the change.',
      resolve: ({ action }) => action,
    }),
    isReplay: t.exposeBoolean('isReplay', {
      description: 'True when this had been done before and nothing was changed.',
    }),
  }),
});

const interactionId = 'Global id of the interaction.';

builder.mutationFields((t) => ({
  recordInteraction: t.field({
    type: Action,
    description:
      'Records a comment, like, reshare or reaction. Boosts the action in feeds: to the time of the interaction for the ' +
      'people concerned, by far less for the others. What is taken back and given again boosts nothing again.',
    args: {
      input: t.arg({ type: RecordInteractionInput, required: true, description: 'The interaction.' }),
    },
    resolve: (_root, { input }, context) =>
      context.mutate((session) => context.services.recordInteraction(session, readInteraction(input))),
  }),
  addInteraction: t.field({
    type: InteractionPayload,
    description:
      'recordInteraction that also gives the interaction. What the named actor may not see is NOT_FOUND, before ' +
      'anything is written. What was recorded before and hidden since is CONFLICT.',
    args: {
      input: t.arg({ type: RecordInteractionInput, required: true, description: 'The interaction.' }),
    },
    resolve: (_root, { input }, context) =>
      context.mutate((session) => context.services.addInteraction(session, readInteraction(input))),
  }),
  updateInteraction: t.field({
    type: Interaction,
    description:
      'Gives a comment another text: its actor, or an admin, which the moderation log says. Bumps nothing. ' +
      'FORBIDDEN for others, NOT_FOUND for what the viewer may not see.',
    args: {
      id: t.arg.id({ required: true, description: interactionId }),
      text: t.arg.string({ required: true, description: '1 to 10,000 characters.' }),
    },
    resolve: (_root, { id, text }, context) =>
      context.mutate((session) =>
        context.services.updateInteraction(session, parseInteractionId(id, ['id']), text),
      ),
  }),
  removeInteraction: t.field({
    type: InteractionPayload,
    description:
      'Takes an interaction back: its actor, a service for others, an admin any. Counts, viewer state and scores ' +
      'follow; what it lifted stays. Idempotent: a second time it is a replay. NOT_FOUND when there never was one.',
    args: {
      input: t.arg({ type: RemoveInteractionInputType, required: true, description: 'Which.' }),
    },
    resolve: (_root, { input }, context) =>
      context.mutate((session) => context.services.removeInteraction(session, readRemoval(input))),
  }),
  hideInteraction: t.field({
    type: Interaction,
    description: 'Admin. Hides an interaction from everybody but admins, at once. Idempotent, reversible.',
    args: {
      id: t.arg.id({ required: true, description: interactionId }),
      reason: t.arg.string({ description: 'Why, for the moderation log; at most 2000 characters.' }),
    },
    resolve: (_root, { id, reason }, context) =>
      context.mutate((session) =>
        context.services.hideInteraction(session, parseInteractionId(id, ['id']), reason),
      ),
  }),
  unhideInteraction: t.field({
    type: Interaction,
    description: 'Admin. Shows a hidden interaction again. Idempotent.',
    args: { id: t.arg.id({ required: true, description: interactionId }) },
    resolve: (_root, { id }, context) =>
      context.mutate((session) =>
        context.services.unhideInteraction(session, parseInteractionId(id, ['id'])),
      ),
  }),
}));
