import type { GraphQLInterfaceType, GraphQLNamedType, GraphQLSchema } from 'graphql';
import type { Action, RefId, UserId } from '../../domain/action.ts';
import { badInput } from '../../domain/errors.ts';
import type { Interaction } from '../../domain/interaction.ts';
import type { NewsfeedItem } from '../../domain/newsfeed-item.ts';
import type { FeedGroup } from '../../features/shapes.ts';
import { builder } from '../builder.ts';
import type { ListArgument } from '../limits/variables.ts';
import type { GraphQLContext } from '../context.ts';
import { SHARED, type Sharing } from '../shared-field.ts';
import {
  encodeActionId,
  encodeFeedGroupId,
  encodeInteractionId,
  encodeMemberId,
  encodeNewsfeedItemId,
  encodeRefId,
  NOT_AN_ID,
  readGlobalId,
  type GlobalId,
} from '../global-id.ts';
import { getFeedGroup } from '../../feed/groups/read-groups.ts';
import { getNewsfeedItem } from '../../feed/page/get-item.ts';
import { getAction } from '../../feed/page/read-actions.ts';
import { getInteraction } from '../../features/interactions/read-interactions.ts';
import { getRef, readMember } from '../../features/directory/read-directory.ts';

/** A member by id; loaded when another field is requested. */
export interface MemberSource {
  readonly userId: UserId;
}

/** A ref by id, with data that is already loaded. */
interface RefNodeSource {
  readonly refId: RefId;
}

type NodeSource = Action | FeedGroup | Interaction | MemberSource | NewsfeedItem | RefNodeSource;

/** A type with a global id that a part of the server adds: the `node` of its extensions. It has an `id` of its own. */
export interface AddedNode {
  readonly is: (source: object) => boolean;
  /** `undefined`: no such id can have been issued. `null`: there is none that the viewer may see. */
  readonly load: (key: string, context: GraphQLContext) => Promise<object | null> | undefined;
}

const addedNode = (type: GraphQLNamedType | undefined) => type?.extensions['node'] as AddedNode | undefined;

const MAX_NODES = 100;

function globalIdOf(source: NodeSource): string {
  if ('load' in source) return encodeFeedGroupId(source.userId, source.groupKey);
  if ('relevancy' in source) return encodeNewsfeedItemId(source.userId, source.actionId);
  if ('refId' in source) return encodeRefId(source.refId);
  if ('parentId' in source) return encodeInteractionId(source.id);
  return 'refIds' in source ? encodeActionId(source.id) : encodeMemberId(source.userId);
}

export const Node = builder.interfaceRef<object>('Node').implement({
  description: 'Anything with a global id.',
  resolveType(source, _context, { schema }) {
    const types = schema.getPossibleTypes(schema.getType('Node') as GraphQLInterfaceType);
    const added = types.find((type) => addedNode(type)?.is(source));
    if (added !== undefined) return added.name;
    if ('load' in source) return 'FeedGroup';
    if ('relevancy' in source) return 'NewsfeedItem';
    if ('refId' in source) return 'Ref';
    if ('parentId' in source) return 'Interaction';
    return 'refIds' in source ? 'Action' : 'Member';
  },
  fields: (t) => ({
    id: t.id({
      description: 'Global id.',
      extensions: {
        ...SHARED,
        ownIn: ['Node', 'NewsfeedItem', 'FeedGroup'],
        isPlain: true,
      } satisfies Sharing,
      resolve: (source) => globalIdOf(source as NodeSource),
    }),
  }),
});

/** `undefined`: no such id can have been issued. */
function loadNode(
  parsed: GlobalId | null,
  context: GraphQLContext,
  schema: GraphQLSchema,
): Promise<object | null> | undefined {
  if (parsed?.type === 'other') {
    const node = addedNode(schema.getType(parsed.name));
    return node === undefined ? Promise.resolve(null) : node.load(parsed.key, context);
  }
  return parsed === null ? undefined : loadOwn(parsed, context);
}

async function loadOwn(
  parsed: Exclude<GlobalId, { readonly type: 'other' }>,
  context: GraphQLContext,
): Promise<NodeSource | null> {
  const session = context.session();
  switch (parsed.type) {
    case 'Action':
      return getAction(session, parsed.actionId);
    case 'Interaction':
      return getInteraction(session, parsed.interactionId);
    case 'Member':
      return readMember(session, parsed.userId);
    case 'Ref':
      return getRef(session, parsed.refId);
    case 'FeedGroup':
      if (parsed.userId !== session.identity.userId) return null;
      return getFeedGroup(context.core, session, parsed.groupKey);
    case 'NewsfeedItem':
      if (parsed.userId !== session.identity.userId) return null;
      return getNewsfeedItem(context.core, session, parsed.actionId);
  }
}

builder.queryFields((t) => ({
  node: t.field({
    type: Node,
    nullable: true,
    description: 'The object with this global id; null if it does not exist or the viewer may not see it.',
    args: { id: t.arg.id({ required: true, description: 'A global id.' }) },
    resolve(_root, { id }, context, { schema }) {
      const found = loadNode(readGlobalId(id), context, schema);
      if (found === undefined) throw badInput(NOT_AN_ID, ['id']);
      return found;
    },
  }),
  nodes: t.field({
    type: [Node],
    nullable: { list: false, items: true },
    description: `The same for up to ${String(MAX_NODES)} global ids, in their order; also null for invalid ids.`,
    args: {
      ids: t.arg.idList({
        required: true,
        description: 'Global ids.',
        extensions: { maxEntries: MAX_NODES } satisfies ListArgument,
      }),
    },
    extensions: { size: { lengthOf: 'ids', max: MAX_NODES } },
    resolve(_root, { ids }, context, { schema }) {
      if (ids.length > MAX_NODES)
        throw badInput(`At most ${String(MAX_NODES)} ids, got ${String(ids.length)}`, ['ids']);
      return ids.map((id) => loadNode(readGlobalId(id), context, schema) ?? null);
    },
  }),
}));
