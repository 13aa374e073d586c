import {
  MAX_COMMENT_LENGTH,
  MAX_INTERACTION_DATA_BYTES,
  MAX_MENTIONS,
  type Interaction as InteractionRecord,
  type OwnInteractions,
} from '../../domain/interaction.ts';
import { type InteractionKind } from '../../domain/relevancy.ts';
import { FanfareError, badInput } from '../../domain/errors.ts';
import { builder } from '../../graphql/builder.ts';
import { defineConnection, PAGE_COST, pageArgs, pageCost, toConnection } from '../../graphql/connection.ts';
import { encodeInteractionId, parseActionId, parseInteractionId } from '../../graphql/global-id.ts';
import { Action } from '../actions/api/action.ts';
import { describedEnum } from '../../graphql/types/enums.ts';
import { Member } from '../directory/api/member.ts';
import { SHARED } from '../../graphql/shared-field.ts';
import { Node } from '../../graphql/types/node.ts';
import type { ChangedInteraction, OwnInteraction, RemoveInteractionInput } from '../../core/shapes.ts';
import { addInteraction } from './add-interaction.ts';
import { hideInteraction, unhideInteraction, updateInteraction } from './moderate-interaction.ts';
import { removeInteraction } from './remove-interaction.ts';
import type { GraphQLResolveInfo } from 'graphql';
import type { Action as ActionRecord } from '../../domain/action.ts';
import { MOST_REACTIONS } from '../../config/kinds.ts';
import { MAX_REACTION_LENGTH } from '../../domain/text-forms.ts';
import { mayEdit } from '../../feed/page/read-actions.ts';
import { MAX_PAGE_SIZE } from '../../feed/page/paging.ts';
import type { GraphQLContext } from '../../graphql/context.ts';
import { latestInteractions, listInteractions, OWN_INTERACTIONS } from './read-interactions.ts';
import { ACTION } from '../../feed/session/load.ts';

/** Maximum and default number of interactions per action inside a list. */
const MAX_IN_LISTS = 20;
const SIZES = { standard: MAX_IN_LISTS, most: MAX_PAGE_SIZE } as const;

async function ownOf({ id }: ActionRecord, context: GraphQLContext): Promise<OwnInteractions | null> {
  return context.session().load(OWN_INTERACTIONS, id);
}

async function hasDone(
  action: ActionRecord,
  kind: InteractionKind,
  context: GraphQLContext,
): Promise<boolean> {
  return (await ownOf(action, context))?.kinds.has(kind) ?? false;
}

export const ActionViewer = builder.objectRef<ActionRecord>('ActionViewer').implement({
  description: 'What the viewer has done with an action and may do.',
  fields: (t) => ({
    hasLiked: t.boolean({
      description: 'Whether they have a visible like.',
      resolve: (action, _args, context) => hasDone(action, 'LIKE', context),
    }),
    hasReshared: t.boolean({
      description: 'Whether they have a visible reshare.',
      resolve: (action, _args, context) => hasDone(action, 'RESHARE', context),
    }),
    hasCommented: t.boolean({
      description: 'Whether they have a visible comment.',
      resolve: (action, _args, context) => hasDone(action, 'COMMENT', context),
    }),
    reactions: t.stringList({
      description: 'Their visible reactions.',
      extensions: { maxBytes: MOST_REACTIONS * MAX_REACTION_LENGTH },
      async resolve(action, _args, context) {
        return [...((await ownOf(action, context))?.reactions ?? [])];
      },
    }),
    canDelete: t.boolean({
      description: 'Whether they may delete the action: its actor and admins.',
      resolve: ({ actorId }, _args, context) => mayChange(actorId, context),
    }),
    canEdit: t.boolean({
      description: 'Whether they may edit the action: its actor, services and admins.',
      resolve: (action, _args, context) => mayEdit(context.identity(), action),
    }),
  }),
});

function mayChange(actorId: string, context: GraphQLContext): boolean {
  const { userId, roles } = context.identity();
  return actorId === userId || roles.has('admin');
}

/** Whether a field is resolved for entries of a list. */
function isInList({ path }: GraphQLResolveInfo): boolean {
  for (let at: GraphQLResolveInfo['path'] | undefined = path; at !== undefined; at = at.prev)
    if (typeof at.key === 'number') return true;
  return false;
}

builder.objectFields(Action, (t) => ({
  viewer: t.field({
    type: ActionViewer,
    description: 'What the viewer has done with it and may do.',
    resolve: (action) => action,
  }),
  interactions: t.field({
    type: InteractionConnection,
    description: `Its interactions that the viewer may see, newest first. Admins also see hidden ones. At most ${String(MAX_IN_LISTS)} inside lists.`,
    args: {
      kinds: t.arg({ type: [InteractionKindEnum], description: 'Only these kinds. Default: all.' }),
      parentId: t.arg.id({
        description:
          'Only replies to this comment; null: only interactions that are not replies. Default: both, in one list.',
      }),
      ...pageArgs(SIZES),
    },
    extensions: { page: pageCost(SIZES) },
    async resolve({ id }, { parentId, ...args }, context, info) {
      for (const name of ['first', 'last'] as const)
        if ((args[name] ?? 0) > MAX_IN_LISTS && isInList(info))
          throw badInput(
            `Must be from 1 to ${String(MAX_IN_LISTS)} inside a list, got ${String(args[name])}`,
            [name],
          );
      const page = await listInteractions(context.session(), id, {
        ...{ ...args, sizes: SIZES },
        parentId: parentId == null ? parentId : parseInteractionId(parentId, ['parentId']),
      });
      return toConnection(page, args);
    },
  }),
}));

builder.queryField('latestInteractions', (t) =>
  t.field({
    type: InteractionConnection,
    description: 'Admin: interactions with a text, latest first, for moderation.',
    args: pageArgs(),
    extensions: PAGE_COST,
    resolve: async (_root, args, context) =>
      toConnection(await latestInteractions(context.core, context.session(), args), args),
  }),
);

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
        'When it happened. Default: now. A time up to five minutes ahead counts as now; later ones are refused, and those more than a day ago unless a service or an admin records them.',
    }),
    text: t.string({ description: 'For COMMENT: 1 to 10,000 characters.' }),
    reaction: t.string({ description: 'Required for REACTION: one of the configured reactions.' }),
    parentId: t.id({
      description:
        'For COMMENT: global id of the comment it replies to, which must not be a reply itself. NOT_FOUND if it is not visible.',
    }),
    mentions: t.stringList({
      description: `For COMMENT: ids of members it mentions, at most ${String(MAX_MENTIONS)}. They are notified. Members who may not see the action are left out without an error.`,
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
    interaction: t.expose('interaction', {
      type: Interaction,
      description: 'Its current state. If several were removed together, the one recorded last.',
    }),
    action: t.expose('action', {
      type: Action,
      description: 'Its action, with the counts after the change.',
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

export const InteractionKindEnum = describedEnum<InteractionKind>(
  'InteractionKind',
  'What somebody did with an action.',
  {
    COMMENT: 'Commented on it.',
    LIKE: 'Liked it.',
    RESHARE: 'Reshared it to their followers.',
    REACTION: 'Reacted with one of the configured reactions.',
  },
);

const InteractionStateEnum = describedEnum<InteractionRecord['state']>(
  'InteractionState',
  'Whether an interaction is visible and counted.',
  {
    VISIBLE: 'Visible to everybody who may see the action.',
    REMOVED: 'Visible to nobody, because it was removed.',
    HIDDEN: 'Visible to admins only and not counted.',
  },
);

export const Interaction = builder.objectRef<InteractionRecord>('Interaction').implement({
  description:
    'What a member did with an action. HIDDEN ones are visible to admins only, REMOVED ones to nobody.',
  interfaces: [Node],
  fields: (t) => ({
    action: t.field({
      type: Action,
      description: 'The action.',
      async resolve({ actionId }, _args, context) {
        const action = await context.session().load(ACTION, actionId);
        if (action === null) throw new FanfareError('NOT_FOUND', 'There is no such action');
        return action;
      },
    }),
    kind: t.expose('kind', { type: InteractionKindEnum, description: 'What was done.', extensions: SHARED }),
    actor: t.field({
      type: Member,
      description: 'The member who acted.',
      extensions: SHARED,
      resolve: ({ actorId }) => ({ userId: actorId }),
    }),
    at: t.expose('at', {
      type: 'DateTime',
      description: 'When it happened. If it was given again after a removal, the first time.',
      extensions: SHARED,
    }),
    editedAt: t.expose('editedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When its text was last changed; null: never.',
      extensions: SHARED,
    }),
    text: t.exposeString('text', {
      nullable: true,
      description: 'Text of a comment, 1 to 10,000 characters; null: it has none.',
      extensions: { maxBytes: MAX_COMMENT_LENGTH, ...SHARED },
    }),
    reaction: t.exposeString('reaction', {
      nullable: true,
      description: 'The reaction; null unless `kind` is REACTION.',
      extensions: SHARED,
    }),
    parentId: t.id({
      nullable: true,
      description: 'Global id of the comment it replies to; null: it is not a reply.',
      extensions: SHARED,
      resolve: ({ parentId }) => (parentId === null ? null : encodeInteractionId(parentId)),
    }),
    data: t.expose('data', {
      type: 'JSON',
      nullable: true,
      description: 'Free data of the application, at most 4 KiB; null: there is none.',
      extensions: { maxBytes: MAX_INTERACTION_DATA_BYTES, ...SHARED },
    }),
    state: t.expose('state', {
      type: InteractionStateEnum,
      description: 'Its visibility.',
      extensions: SHARED,
    }),
  }),
});

export const InteractionConnection = defineConnection('Interaction', Interaction, 'interactions');
