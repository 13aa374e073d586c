import './types/scalars.ts';
import './types/enums.ts';
import './types/node.ts';
import './types/member.ts';
import './types/ref.ts';
import './types/directory.ts';
import './types/follow.ts';
import './types/followers.ts';
import './types/unread-count.ts';
import './types/viewer.ts';
import './types/descriptor.ts';
import './types/action.ts';
import './types/update-action.ts';
import './types/slice.ts';
import './types/publish.ts';
import './types/feed.ts';
import './types/explanation.ts';
import './types/feed-event.ts';
import './types/feed-group.ts';
import './types/interaction.ts';
import './types/interaction-changes.ts';
import './types/action-interactions.ts';
import './types/moderation.ts';
import './types/mutes.ts';
import './types/bookmark.ts';
import './types/item-marks.ts';
import './types/erasure.ts';
import './types/pins.ts';
import './types/work.ts';
import './types/host-events.ts';
import './types/webhooks.ts';
import './types/ticket.ts';
import type { GraphQLSchema } from 'graphql';
import { builder } from './builder.ts';
import { countLists } from './limits/counted-lists.ts';
import { traced } from '../telemetry/tracing.ts';
import { withTenants } from './tenant-fields.ts';
import { defineDeclaredDescriptors } from './types/declared-descriptors.ts';

/** The whole API, sorted. @param options.hasTenants ids are stored with their tenant. */
export function buildSchema({ hasTenants = false } = {}): GraphQLSchema {
  defineDeclaredDescriptors();
  const schema = countLists(traceRootFields(builder.toSchema()));
  return hasTenants ? withTenants(schema) : schema;
}

/** Of a traced operation, each query and mutation is a span. */
function traceRootFields(schema: GraphQLSchema): GraphQLSchema {
  for (const type of [schema.getQueryType(), schema.getMutationType()])
    for (const field of Object.values(type?.getFields() ?? {})) {
      const { name, resolve } = field;
      if (resolve !== undefined) field.resolve = (...args) => traced(name, {}, () => resolve(...args));
    }
  return schema;
}
