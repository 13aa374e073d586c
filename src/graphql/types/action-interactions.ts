import type { GraphQLResolveInfo } from 'graphql';
import type { Action as ActionRecord } from '../../domain/action.ts';
import { badInput } from '../../domain/errors.ts';
import type { OwnInteractions } from '../../domain/interaction.ts';
import type { InteractionKind } from '../../domain/relevancy.ts';
import { MAX_REACTION_LENGTH, MOST_REACTIONS } from '../../config/kinds.ts';
import { mayEdit } from '../../services/publish/update-action.ts';
import { MAX_PAGE_SIZE } from '../../services/feed/paging.ts';
import { builder } from '../builder.ts';
import { PAGE_COST, pageArgs, toConnection } from '../connection.ts';
import type { GraphQLContext } from '../context.ts';
import { parseInteractionId } from '../global-id.ts';
import type { PageSize } from '../limits/cost.ts';
import { Action } from './action.ts';
import { InteractionConnection, InteractionKindEnum } from './interaction.ts';
import { latestInteractions, listInteractions } from '../../services/interactions/read-interactions.ts';

/** Maximum and default number of interactions per action inside a list. */
const MAX_IN_LISTS = 20;
const LIST_COST: { readonly page: PageSize } = {
  page: { argument: 'first', default: MAX_IN_LISTS, max: MAX_PAGE_SIZE },
};

async function ownOf({ id }: ActionRecord, context: GraphQLContext): Promise<OwnInteractions | null> {
  return context.session().own.load(id);
}

async function hasDone(
  action: ActionRecord,
  kind: InteractionKind,
  context: GraphQLContext,
): Promise<boolean> {
  return (await ownOf(action, context))?.kinds.has(kind) ?? false;
}

const ActionViewer = builder.objectRef<ActionRecord>('ActionViewer').implement({
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
    isBookmarked: t.boolean({
      description: 'Whether they have bookmarked it.',
      resolve: async ({ id }, _args, context) => (await context.session().bookmarks.load(id)) !== null,
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
      first: t.arg.int({
        description: `Number of interactions, 1 to ${String(MAX_PAGE_SIZE)}, at most ${String(MAX_IN_LISTS)} inside lists. Default: ${String(MAX_IN_LISTS)}.`,
      }),
      after: t.arg.string({ description: 'A cursor of an earlier page. Default: starts at the newest.' }),
    },
    extensions: LIST_COST,
    async resolve({ id }, { parentId, ...args }, context, info) {
      const first = args.first ?? MAX_IN_LISTS;
      if (first > MAX_IN_LISTS && isInList(info))
        throw badInput(`Must be from 1 to ${String(MAX_IN_LISTS)} inside a list, got ${String(first)}`, [
          'first',
        ]);
      const page = await listInteractions(context.session(), id, {
        ...args,
        first,
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
