import {
  reportedFanOut,
  type Action as ActionRecord,
  type Engagement as EngagementRecord,
  type ReactionCount as ReactionCountRecord,
} from '../../../domain/action.ts';
import { isTrusted } from '../../../domain/viewer.ts';
import type { CountedPage } from '../../../core/shapes.ts';
import { builder } from '../../../graphql/builder.ts';
import {
  defineConnection,
  PAGE_COST,
  pageArgs,
  toConnection,
  Count,
  TOTAL_COST,
} from '../../../graphql/connection.ts';
import { MOST_REACTIONS } from '../../../config/kinds.ts';
import { parseActionId } from '../../../graphql/global-id.ts';
import { mostRefs } from '../../../graphql/limits/lengths.ts';
import { SHARED, type RenderedOnce } from '../../../graphql/shared-field.ts';
import { ActionContent } from './content.ts';
import { ActionDescriptor } from './descriptor.ts';
import { FanOutStateEnum, LaneEnum, ScopeEnum } from '../../../graphql/types/enums.ts';
import { Member } from '../../directory/api/member.ts';
import { Node } from '../../../graphql/types/node.ts';
import { Ref } from '../../directory/api/ref.ts';
import { recordedRef } from '../../../graphql/sentences.ts';
import { FIND_DESCRIPTION, MAX_FOUND_AMONG } from '../../../feed/page/text-filter.ts';
import { getActionOrScheduled, listActions } from '../../../feed/page/read-actions.ts';

const DescriptorFieldFilter = builder.inputType('DescriptorFieldFilter', {
  description: 'A field that its type declares as indexed, such as `{field: "raterId", value: "john"}`.',
  fields: (t) => ({
    field: t.string({
      required: true,
      description: 'Name of the field. BAD_USER_INPUT if no type declares it as indexed.',
    }),
    value: t.string({ required: true, description: 'Exact value of the field.' }),
  }),
});

export const ActionFilter = builder.inputType('ActionFilter', {
  description: 'Selects actions that meet all given conditions.',
  fields: (t) => ({
    types: t.stringList({
      description: 'Of one of these types, such as ApplicationRating. An unknown one is BAD_USER_INPUT.',
    }),
    actorIds: t.stringList({ description: 'By one of these actors.' }),
    tags: t.stringList({ description: 'With any of these tags.' }),
    descriptor: t.field({
      type: DescriptorFieldFilter,
      description: 'With this value in a field of the descriptor.',
    }),
    since: t.field({ type: 'DateTime', description: 'Conducted at this time or later.' }),
    until: t.field({ type: 'DateTime', description: 'Conducted before this time.' }),
    text: t.string({ description: FIND_DESCRIPTION, extensions: { reads: MAX_FOUND_AMONG } }),
  }),
});

const ReactionCount = builder.objectRef<ReactionCountRecord>('ReactionCount').implement({
  description: 'How often a reaction was given.',
  fields: (t) => ({
    reaction: t.exposeString('reaction', { description: 'The reaction.', extensions: SHARED }),
    count: t.exposeInt('count', {
      description: 'Number of members who gave it; at least 1.',
      extensions: SHARED,
    }),
  }),
});

const Engagement = builder.objectRef<EngagementRecord>('Engagement').implement({
  description: "Counts of an action's visible interactions.",
  fields: (t) => ({
    comments: t.exposeInt('comments', { description: 'Number of comments.', extensions: SHARED }),
    likes: t.exposeInt('likes', { description: 'Number of likes.', extensions: SHARED }),
    reshares: t.exposeInt('reshares', { description: 'Number of reshares.', extensions: SHARED }),
    reactions: t.expose('reactions', {
      type: [ReactionCount],
      description: 'Its reactions, most frequent first.',
      extensions: { size: { usual: 4, most: MOST_REACTIONS }, ...SHARED },
    }),
    lastInteraction: t.expose('lastInteraction', {
      type: 'DateTime',
      nullable: true,
      description: 'When the newest interaction happened; null: there is none.',
      extensions: SHARED,
    }),
  }),
});

/** Ids in an action whose names may be shown. */
export function namedIn({ actorId, refs, descriptor }: ActionRecord): string[] {
  const fields = Object.values(descriptor).filter((value) => typeof value === 'string');
  return [...new Set([actorId, ...refs.map(({ id }) => id), ...fields])];
}

const FanOut = builder.objectRef<ActionRecord>('FanOut').implement({
  description: 'The delivery of an action to feeds.',
  fields: (t) => ({
    state: t.field({
      type: FanOutStateEnum,
      description: 'Its progress.',
      resolve: ({ fanOut }) => reportedFanOut(fanOut).state,
    }),
    version: t.int({
      description:
        'Incremented by every change of the action that affects feeds. With DONE, the delivered version: an action with constant interactions is DONE while the next version is being delivered.',
      resolve: ({ fanOut }) => reportedFanOut(fanOut).version,
    }),
    attempts: t.int({
      description: 'Number of attempts for this version.',
      resolve: ({ fanOut }) => fanOut.attempts,
    }),
    lane: t.field({
      type: LaneEnum,
      description:
        'Its lane: until the first delivery has ended that of the publication, then that of the most urgent pending change. LIVE if nothing is pending.',
      resolve: ({ fanOut }) => fanOut.lane,
    }),
    delivered: t.int({
      description: 'Number of readers who have the action.',
      resolve: ({ fanOut }) => fanOut.delivered,
    }),
    pulled: t.boolean({
      description: 'Whether followers of a very large ref look the action up when they read.',
      resolve: ({ pullRefIds }) => pullRefIds.length > 0,
    }),
    error: t.string({
      nullable: true,
      description: 'The last error.',
      resolve: ({ fanOut }) => fanOut.error,
    }),
  }),
});

const BY_REVISION: RenderedOnce<ActionRecord> = {
  keyOf: ({ id }) => id,
  versionOf: ({ rev }) => rev,
  idsIn: namedIn,
};

export const Action = builder.objectRef<ActionRecord>('Action').implement({
  description: 'Something that happened.',
  interfaces: [Node],
  extensions: { renderedOnce: BY_REVISION },
  fields: (t) => ({
    actor: t.field({
      type: Member,
      description: 'The member who acted.',
      extensions: SHARED,
      resolve: ({ actorId }) => ({ userId: actorId }),
    }),
    conducted: t.expose('conducted', {
      type: 'DateTime',
      description: 'When it happened, according to the application.',
      extensions: SHARED,
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it is removed everywhere; null: never.',
      extensions: SHARED,
    }),
    publishAt: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'When it will be published; until then only its actor, admins and services see it. Null: it is published.',
      extensions: SHARED,
      resolve: ({ publishAt }) => publishAt ?? null,
    }),
    scope: t.expose('scope', { type: ScopeEnum, description: 'Its audience.', extensions: SHARED }),
    descriptor: t.field({
      type: ActionDescriptor,
      description: 'What happened.',
      extensions: SHARED,
      resolve: (action) => action,
    }),
    content: t.field({
      type: ActionContent,
      description: 'What is shown below the sentence, whatever its type calls it.',
      extensions: SHARED,
      resolve: (action) => action,
    }),
    refs: t.field({
      type: [Ref],
      description: 'The things it refers to.',
      extensions: { size: { usual: 4, most: mostRefs() }, ...SHARED },
      resolve: (action, _args, context) =>
        action.unnamed === undefined
          ? action.refs.map(({ id, type, label }) => ({ refId: id, type, label }))
          : Promise.all(action.refs.map((ref) => recordedRef(context.session(), action, ref))),
    }),
    engagement: t.expose('engagement', {
      type: Engagement,
      description: 'Counts of its interactions.',
      extensions: SHARED,
    }),
    commentsVersion: t.exposeInt('commentsVersion', {
      description:
        'Another number after every change of its comments: one is added, edited, hidden, shown again or removed.',
      extensions: SHARED,
    }),
    isHidden: t.exposeBoolean('isHidden', {
      description: 'Hidden by an admin; only admins see it.',
      extensions: SHARED,
    }),
    fanOut: t.field({
      type: FanOut,
      nullable: true,
      description: 'Its delivery to feeds. Null unless the viewer is an admin or a service.',
      resolve: (action, _args, context) => (isTrusted(context.identity()) ? action : null),
    }),
  }),
});

export const ActionConnection = defineConnection<ActionRecord, CountedPage<ActionRecord>>(
  'Action',
  Action,
  'actions',
);

builder.objectFields(ActionConnection, (t) => ({
  total: t.field({
    type: Count,
    description:
      'Number of visible entries in the whole list that match its filter, from the same read as the page.',
    extensions: TOTAL_COST,
    resolve: ({ page }) => page.countTotal(),
  }),
}));

builder.queryFields((t) => ({
  action: t.field({
    type: Action,
    nullable: true,
    description: 'An action; null if it does not exist or the viewer may not see it.',
    args: { id: t.arg.id({ required: true, description: 'Global id of the action.' }) },
    resolve: (_root, { id }, context) => getActionOrScheduled(context.session(), parseActionId(id, ['id'])),
  }),
  actions: t.field({
    type: ActionConnection,
    description: 'Admin and service: actions by fan-out state, newest first.',
    args: {
      fanOutState: t.arg({ type: FanOutStateEnum, description: 'Only those in this state.' }),
      includeHidden: t.arg.boolean({
        defaultValue: false,
        description: 'Whether to include hidden ones.',
      }),
      filter: t.arg({ type: ActionFilter, description: 'Only entries that match.' }),
      ...pageArgs(),
    },
    extensions: PAGE_COST,
    resolve: async (_root, args, context) =>
      toConnection(await listActions(context.core, context.session(), args), args),
  }),
}));
