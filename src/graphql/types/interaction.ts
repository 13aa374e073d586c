import {
  INTERACTION_STATES,
  MAX_COMMENT_LENGTH,
  MAX_INTERACTION_DATA_BYTES,
  type Interaction as InteractionRecord,
} from '../../domain/interaction.ts';
import { INTERACTION_KINDS, type InteractionKind } from '../../domain/relevancy.ts';
import { FanfareError } from '../../domain/errors.ts';
import { builder } from '../builder.ts';
import { defineConnection } from '../connection.ts';
import { encodeInteractionId } from '../global-id.ts';
import { Action } from './action.ts';
import { described } from './enums.ts';
import { Member } from './member.ts';
import { Node } from './node.ts';

export const InteractionKindEnum = builder.enumType('InteractionKind', {
  description: 'What somebody did with an action.',
  values: described<InteractionKind>(INTERACTION_KINDS, {
    COMMENT: 'Commented on it.',
    LIKE: 'Liked it.',
    RESHARE: 'Reshared it to their followers.',
    REACTION: 'Reacted with one of the configured reactions.',
  }),
});

const InteractionStateEnum = builder.enumType('InteractionState', {
  description: 'Whether an interaction is visible and counted.',
  values: described<InteractionRecord['state']>(INTERACTION_STATES, {
    VISIBLE: 'Visible to everybody who may see the action.',
    REMOVED: 'Visible to nobody, because it was removed.',
    HIDDEN: 'Visible to admins only and not counted.',
  }),
});

export const Interaction = builder.objectRef<InteractionRecord>('Interaction').implement({
  description:
    'What a member did with an action. HIDDEN ones are visible to admins only, REMOVED ones to nobody.',
  interfaces: [Node],
  fields: (t) => ({
    action: t.field({
      type: Action,
      description: 'The action.',
      async resolve({ actionId }, _args, context) {
        const action = await context.session().actions.load(actionId);
        if (action === null) throw new FanfareError('NOT_FOUND', 'There is no such action');
        return action;
      },
    }),
    kind: t.expose('kind', { type: InteractionKindEnum, description: 'What was done.' }),
    actor: t.field({
      type: Member,
      description: 'The member who acted.',
      resolve: ({ actorId }) => ({ userId: actorId }),
    }),
    at: t.expose('at', {
      type: 'DateTime',
      description: 'When it happened. If it was given again after a removal, the first time.',
    }),
    editedAt: t.expose('editedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When its text was last changed; null: never.',
    }),
    text: t.exposeString('text', {
      nullable: true,
      description: 'Text of a comment, 1 to 10,000 characters; null: it has none.',
      extensions: { maxBytes: MAX_COMMENT_LENGTH },
    }),
    reaction: t.exposeString('reaction', {
      nullable: true,
      description: 'The reaction; null unless `kind` is REACTION.',
    }),
    parentId: t.id({
      nullable: true,
      description: 'Global id of the comment it replies to; null: it is not a reply.',
      resolve: ({ parentId }) => (parentId === null ? null : encodeInteractionId(parentId)),
    }),
    data: t.expose('data', {
      type: 'JSON',
      nullable: true,
      description: 'Free data of the application, at most 4 KiB; null: there is none.',
      extensions: { maxBytes: MAX_INTERACTION_DATA_BYTES },
    }),
    state: t.expose('state', { type: InteractionStateEnum, description: 'Its visibility.' }),
  }),
});

export const InteractionConnection = defineConnection('Interaction', Interaction, 'interactions');
