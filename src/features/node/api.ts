import type { GraphQLSchema } from 'graphql';
import { badInput } from '../../domain/errors.ts';
import { builder } from '../../graphql/builder.ts';
import type { ListArgument } from '../../graphql/limits/variables.ts';
import type { GraphQLContext } from '../../graphql/context.ts';
import { NOT_AN_ID, readGlobalId, type GlobalId } from '../../graphql/global-id.ts';
import { addedNode, Node, type NodeSource } from '../../graphql/types/node.ts';
import { getFeedGroup } from '../../feed/groups/read-groups.ts';
import { getNewsfeedItem } from '../../feed/page/get-item.ts';
import { getActionOrScheduled } from '../../feed/page/read-actions.ts';
import { getInteraction } from '../interactions/read-interactions.ts';
import { getRef, readMember } from '../directory/read-directory.ts';

const MAX_NODES = 100;

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
      return getActionOrScheduled(session, parsed.actionId);
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
