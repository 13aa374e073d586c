import type { Action, RefId, UserId } from '../../domain/action.ts';
import { badInput } from '../../domain/errors.ts';
import type { Interaction } from '../../domain/interaction.ts';
import { CHANNELS } from '../../domain/notification.ts';
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
  encodeNotificationId,
  encodeRefId,
  encodeReportId,
  parseGlobalId,
  readGlobalId,
  type GlobalId,
} from '../global-id.ts';
import { getFeedGroup } from '../../feed/groups/read-groups.ts';
import { getNewsfeedItem } from '../../feed/page/get-item.ts';
import { getAction } from '../../feed/page/read-actions.ts';
import { findNotifications, type Notification } from '../../features/notifications/read-notifications.ts';
import { getInteraction } from '../../features/interactions/read-interactions.ts';
import { getReport } from '../../features/reports/reports.ts';
import type { Report } from '../../domain/report.ts';
import { getRef, readMember } from '../../features/directory/read-directory.ts';

/** A member by id; loaded when another field is requested. */
export interface MemberSource {
  readonly userId: UserId;
}

/** A ref by id, with data that is already loaded. */
interface RefNodeSource {
  readonly refId: RefId;
}

type NodeSource =
  | Action
  | FeedGroup
  | Interaction
  | MemberSource
  | NewsfeedItem
  | Notification
  | RefNodeSource
  | Report;

const MAX_NODES = 100;

function globalIdOf(source: NodeSource): string {
  if ('group' in source) return encodeNotificationId(source.userId, source.group.key);
  if ('load' in source) return encodeFeedGroupId(source.userId, source.groupKey);
  if ('relevancy' in source) return encodeNewsfeedItemId(source.userId, source.actionId);
  if ('openedAt' in source) return encodeReportId(source.id);
  if ('refId' in source) return encodeRefId(source.refId);
  if ('parentId' in source) return encodeInteractionId(source.id);
  return 'refIds' in source ? encodeActionId(source.id) : encodeMemberId(source.userId);
}

export const Node = builder.interfaceRef<NodeSource>('Node').implement({
  description: 'Anything with a global id.',
  resolveType(source) {
    if ('group' in source) return 'Notification';
    if ('load' in source) return 'FeedGroup';
    if ('relevancy' in source) return 'NewsfeedItem';
    if ('openedAt' in source) return 'Report';
    if ('refId' in source) return 'Ref';
    if ('parentId' in source) return 'Interaction';
    return 'refIds' in source ? 'Action' : 'Member';
  },
  fields: (t) => ({
    id: t.id({
      description: 'Global id.',
      extensions: {
        ...SHARED,
        ownIn: ['Node', 'NewsfeedItem', 'FeedGroup', 'Notification'],
        isPlain: true,
      } satisfies Sharing,
      resolve: globalIdOf,
    }),
  }),
});

async function loadNode(parsed: GlobalId, context: GraphQLContext): Promise<NodeSource | null> {
  const session = context.session();
  switch (parsed.type) {
    case 'Action':
      return getAction(session, parsed.actionId);
    case 'Interaction':
      return getInteraction(context.core, session, parsed.interactionId);
    case 'Member':
      return readMember(session, parsed.userId);
    case 'Ref':
      return getRef(context.core, session, parsed.refId);
    case 'FeedGroup':
      if (parsed.userId !== session.identity.userId) return null;
      return getFeedGroup(context.core, session, parsed.groupKey);
    case 'NewsfeedItem':
      if (parsed.userId !== session.identity.userId) return null;
      return getNewsfeedItem(context.core, session, parsed.actionId);
    case 'Notification': {
      if (parsed.userId !== session.identity.userId) return null;
      const [found = null] = await findNotifications(context.core, session, [parsed.key], CHANNELS);
      return found;
    }
    case 'Report':
      return getReport(context.core, session, parsed.reportId);
    case 'unknown':
      return null;
  }
}

builder.queryFields((t) => ({
  node: t.field({
    type: Node,
    nullable: true,
    description: 'The object with this global id; null if it does not exist or the viewer may not see it.',
    args: { id: t.arg.id({ required: true, description: 'A global id.' }) },
    resolve: (_root, { id }, context) => loadNode(parseGlobalId(id, ['id']), context),
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
    resolve(_root, { ids }, context) {
      if (ids.length > MAX_NODES)
        throw badInput(`At most ${String(MAX_NODES)} ids, got ${String(ids.length)}`, ['ids']);
      return ids.map((id) => loadNode(readGlobalId(id) ?? { type: 'unknown' }, context));
    },
  }),
}));
