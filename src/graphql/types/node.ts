import type { GraphQLInterfaceType, GraphQLNamedType } from 'graphql';
import type { Action, RefId, UserId } from '../../domain/action.ts';
import type { Interaction } from '../../domain/interaction.ts';
import type { NewsfeedItem } from '../../domain/newsfeed-item.ts';
import type { FollowedRef } from '../../feed/loads/own-follows.ts';
import type { FeedGroup } from '../../core/shapes.ts';
import { builder } from '../builder.ts';
import type { GraphQLContext } from '../context.ts';
import { SHARED, type Sharing } from '../shared-field.ts';
import {
  encodeActionId,
  encodeFeedGroupId,
  encodeInteractionId,
  encodeMemberId,
  encodeNewsfeedItemId,
  encodeRefId,
} from '../global-id.ts';

/** A member by id; loaded when another field is requested. */
export interface MemberSource {
  readonly userId: UserId;
  /** Shown as this id, which nobody has, whatever is known of the member. */
  readonly nobody?: FollowedRef | null;
}

/** A ref by id, with data that is already loaded. */
interface RefNodeSource {
  readonly refId: RefId;
}

export type NodeSource = Action | FeedGroup | Interaction | MemberSource | NewsfeedItem | RefNodeSource;

/** A type with a global id that a part of the server adds: the `node` of its extensions. It has an `id` of its own. */
export interface AddedNode {
  readonly is: (source: object) => boolean;
  /** `undefined`: no such id can have been issued. `null`: there is none that the viewer may see. */
  readonly load: (key: string, context: GraphQLContext) => Promise<object | null> | undefined;
}

export const addedNode = (type: GraphQLNamedType | undefined) =>
  type?.extensions['node'] as AddedNode | undefined;

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
