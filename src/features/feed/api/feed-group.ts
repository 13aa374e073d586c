import type { NewsfeedItem as NewsfeedItemRecord } from '../../../domain/newsfeed-item.ts';
import { groupOf } from '../../../descriptors/group-key.ts';
import { MAX_TOTAL } from '../../../feed/page/list.ts';
import { GROUPS, readFeedGroups } from '../../../feed/groups/read-groups.ts';
import { pageSize } from '../../../feed/page/paging.ts';
import type {
  Count as CountSource,
  FeedGroup as FeedGroupSource,
  FeedGroupPage,
} from '../../../core/shapes.ts';
import { builder } from '../../../graphql/builder.ts';
import {
  defineConnection,
  pageArgs,
  pageCost,
  toConnection,
  Count,
  TOTAL_COST,
} from '../../../graphql/connection.ts';
import type { GraphQLContext } from '../../../graphql/context.ts';
import { encodeFeedGroupId } from '../../../graphql/global-id.ts';
import {
  groupSummaryPartsOf,
  plainSentence,
  type SummaryPart as SummaryPartSource,
} from '../../../graphql/sentences.ts';
import { SHARED, type RenderedOnce } from '../../../graphql/shared-field.ts';
import type { ListSize, Reads } from '../../../graphql/limits/cost.ts';
import { groupSummaryParts } from '../../../graphql/limits/lengths.ts';
import { FeedStateEnum } from '../../../graphql/types/enums.ts';
import { countsAsked, FeedFilter, NewsfeedItem, READS_BY_VIEW } from './feed.ts';
import { declarationOf, LOCALE_ARG, localeOf, SummaryPart } from '../../actions/api/descriptor.ts';
import { Member } from '../../directory/api/member.ts';
import { Node } from '../../../graphql/types/node.ts';
import { UNREAD_COST, UnreadCount } from './unread-count.ts';
import { listArgs, listAsked } from './view-arg.ts';

/** Listed items or actors of one group. */
const LISTED = { standard: 3, most: 20 } as const;
const LISTED_COST: { readonly size: ListSize } = {
  size: { argument: 'first', default: LISTED.standard, max: LISTED.most },
};
/** Counting reads ids and applies rules; most groups are small. */
const COUNT_COST: { readonly size: ListSize } = { size: 10 };
function actorsOf(items: readonly NewsfeedItemRecord[]): string[] {
  return [...new Set(items.map(({ action }) => action.actorId))];
}

function countOf(count: number, isExact: boolean): CountSource {
  return { count: Math.min(count, MAX_TOTAL), isExact };
}

/** Sentence about the newest 1,000 items of a group. */
async function summaryPartsOf(
  { load }: FeedGroupSource,
  locale: string | null | undefined,
  context: GraphQLContext,
): Promise<readonly SummaryPartSource[]> {
  const items = await load((some) => some.length > MAX_TOTAL);
  const [top, ...others] = items.slice(0, MAX_TOTAL).map(({ action }) => action);
  if (top === undefined) return [];
  const descriptor = declarationOf(top.descriptor);
  if (descriptor === undefined) return [{ text: top.descriptor.type, member: null, ref: null }];
  const group = { actions: [top, ...others], isAll: items.length <= MAX_TOTAL } as const;
  return groupSummaryPartsOf(context.session(), group, descriptor, localeOf(locale, context));
}

const firstArg = (what: string) => ({
  description: `Number of ${what}, 1 to ${String(LISTED.most)}.`,
});

export const FeedGroup = builder.objectRef<FeedGroupSource>('FeedGroup').implement({
  description:
    'Items of a feed that belong together: the same type, the same key fields, the same day. Its contents depend on the viewer and on the filter of the list it is in. Its id is the groupId of its items.',
  interfaces: [Node],
  extensions: {
    renderedOnce: {
      keyOf: ({ groupKey, list }) => `${groupKey} ${list}`,
      versionOf: ({ version }) => version(),
      idsIn: ({ actors }) => actors(),
    } satisfies RenderedOnce<FeedGroupSource>,
  },
  fields: (t) => ({
    relevancy: t.expose('relevancy', {
      type: 'DateTime',
      description: 'The relevancy of its topmost item.',
      extensions: SHARED,
    }),
    isUnread: t.exposeBoolean('isUnread', {
      description: 'Whether its topmost item is unread.',
      extensions: SHARED,
    }),
    count: t.field({
      type: Count,
      description: 'Number of its items.',
      extensions: { ...COUNT_COST, ...SHARED },
      async resolve({ load }) {
        const { length } = await load((items) => items.length > MAX_TOTAL);
        return countOf(length, length <= MAX_TOTAL);
      },
    }),
    actors: t.field({
      type: [Member],
      description: 'Its distinct actors, in the order of their topmost items.',
      args: { first: t.arg.int({ ...firstArg('members'), defaultValue: LISTED.standard }) },
      extensions: { ...LISTED_COST, ...SHARED },
      async resolve({ load }, { first }) {
        const size = pageSize(first, LISTED);
        const actors = actorsOf(await load((items) => actorsOf(items).length >= size));
        return actors.slice(0, size).map((userId) => ({ userId }));
      },
    }),
    actorCount: t.field({
      type: Count,
      description: 'Number of distinct actors in its newest 1,000 items.',
      extensions: { ...COUNT_COST, ...SHARED },
      async resolve({ load }) {
        const items = await load((some) => some.length > MAX_TOTAL);
        return countOf(actorsOf(items.slice(0, MAX_TOTAL)).length, items.length <= MAX_TOTAL);
      },
    }),
    items: t.field({
      type: [NewsfeedItem],
      description: 'Its items, in the order of the feed.',
      args: { first: t.arg.int({ ...firstArg('items'), defaultValue: LISTED.standard }) },
      extensions: LISTED_COST,
      async resolve({ load }, { first }) {
        const size = pageSize(first, LISTED);
        return (await load((items) => items.length >= size)).slice(0, size);
      },
    }),
    summary: t.string({
      description: 'A sentence about the group: it names the first actors and counts the others.',
      args: { locale: t.arg.string({ description: LOCALE_ARG }) },
      extensions: COUNT_COST,
      async resolve(group, { locale }, context) {
        return plainSentence(
          (await summaryPartsOf(group, locale, context)).map((part) =>
            part.member === null && part.ref === null ? part.text : { name: part.text },
          ),
        );
      },
    }),
    summaryParts: t.field({
      type: [SummaryPart],
      description: 'The same sentence in parts, so that clients can link the people and things it names.',
      args: { locale: t.arg.string({ description: LOCALE_ARG }) },
      extensions: { size: groupSummaryParts() },
      resolve: (group, { locale }, context) => summaryPartsOf(group, locale, context),
    }),
  }),
});

builder.objectField(NewsfeedItem, 'groupId', (t) =>
  t.id({
    description: 'Global id of the group it is shown in.',
    resolve: ({ userId, action }) => encodeFeedGroupId(userId, groupOf(action)),
  }),
);

const FeedGroupConnection = defineConnection<FeedGroupSource, FeedGroupPage>(
  'FeedGroup',
  FeedGroup,
  'groups of newsfeed items',
);

builder.objectFields(FeedGroupConnection, (t) => ({
  total: t.field({
    type: Count,
    description: 'Number of groups in the whole list that match its filter, from the same read as the page.',
    extensions: TOTAL_COST,
    resolve: ({ page }) => page.countTotal(),
  }),
  unread: t.field({
    type: UnreadCount,
    description: 'Groups of this list whose topmost item is unread, from the same read as the page.',
    extensions: UNREAD_COST,
    resolve: ({ page }) => page.countUnread(),
  }),
  state: t.field({
    type: FeedStateEnum,
    description: 'Whether the feed is complete.',
    resolve: ({ page }) => page.state,
  }),
}));

builder.queryField('feedGroups', (t) =>
  t.field({
    type: FeedGroupConnection,
    description:
      "The viewer's feed in groups. Each visible item is in exactly one group; a group has the position of its topmost item. A group that was bumped above the cursor is not listed again.",
    args: {
      ...pageArgs(GROUPS),
      ...listArgs(t.arg),
      filter: t.arg({ type: FeedFilter, description: 'Applied to items before they are grouped.' }),
    },
    extensions: { page: pageCost(GROUPS), reads: READS_BY_VIEW satisfies Reads },
    resolve: async (_root, args, context, info) =>
      toConnection(
        await readFeedGroups(context.core, context.session(), {
          ...args,
          ...listAsked(args),
          ...countsAsked(info),
        }),
        args,
      ),
  }),
);
