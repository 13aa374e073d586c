import type { ObjectRef } from '@pothos/core';
import { type PageSizes, SIZES } from '../feed/page/paging.ts';
import type { Page, PageArgs, Count as CountSource } from '../core/shapes.ts';
import { builder } from './builder.ts';
import { SHARED } from './shared-field.ts';
import type { ListSize, PageSize } from './limits/cost.ts';
import { MAX_TOTAL } from '../feed/page/list.ts';

export const Count = builder.objectRef<CountSource>('Count').implement({
  description:
    'A number of entries. Exact up to 1,000; beyond that, `count` is 1,000 and `isExact` is false. Also false for a feed of which few entries match: `count` is how many were found then.',
  fields: (t) => ({
    count: t.exposeInt('count', { description: 'The number, at most 1,000.', extensions: SHARED }),
    isExact: t.exposeBoolean('isExact', {
      description: 'False if there may be more than `count`.',
      extensions: SHARED,
    }),
  }),
});

/** Computing a total examines up to this many entries. */
export const TOTAL_COST: { readonly size: ListSize } = { size: MAX_TOTAL };

type SchemaTypes = typeof builder.$inferSchemaTypes;

/** Source of a connection field: the page, and what was asked for. */
export interface ConnectionSource<P> {
  readonly page: P;
  readonly isUp: boolean;
  /** It begins where the list does, or ends where the list ends if it was read upwards. */
  readonly isFirst: boolean;
}

export function toConnection<P>(page: P, { after, last, before }: PageArgs): ConnectionSource<P> {
  return { page, isUp: last != null || before != null, isFirst: after == null && before == null };
}

const PageInfo = builder.objectRef<ConnectionSource<Page<unknown>>>('PageInfo').implement({
  description: 'Position of a page in its list.',
  fields: (t) => ({
    hasNextPage: t.boolean({
      description:
        'Whether there are more visible entries. For a page read upwards: whether it was requested with `before`.',
      resolve: ({ page, isUp, isFirst }) => (isUp ? !isFirst : page.hasMore),
    }),
    hasPreviousPage: t.boolean({
      description:
        'Whether the page was requested with `after`. For a page read upwards: whether there are more visible entries above it.',
      resolve: ({ page, isUp, isFirst }) => (isUp ? page.hasMore : !isFirst),
    }),
    startCursor: t.string({
      nullable: true,
      description: 'The page upwards from here ends before this cursor; null on an empty page.',
      resolve: ({ page, isUp }) => (isUp ? page.end : (page.edges[0]?.cursor ?? null)),
    }),
    endCursor: t.string({
      nullable: true,
      description:
        'The next page starts after this cursor. It may be beyond the last entry, at an entry that is not visible.',
      resolve: ({ page, isUp }) => (isUp ? (page.edges.at(-1)?.cursor ?? null) : page.end),
    }),
  }),
});

/** The casts are where the schema builder cannot follow a type parameter; the signature keeps node and page consistent. */
export function defineConnection<Node, P extends Page<Node> = Page<Node>>(
  name: string,
  node: ObjectRef<SchemaTypes, Node, Node>,
  plural: string,
): ObjectRef<SchemaTypes, ConnectionSource<P>, ConnectionSource<P>> {
  const edge = builder.objectRef<{ readonly cursor: string; readonly node: Node }>(`${name}Edge`).implement({
    description: `One of ${plural}, with its place in the list.`,
    fields: (t) => ({
      cursor: t.exposeString('cursor', {
        description: 'Pass it as `after` to continue after this entry, or as `before` to go on above it.',
      }),
      node: t.field({ type: node, description: 'The entry.', resolve: (source) => source.node as never }),
    }),
  });
  return builder.objectRef<ConnectionSource<P>>(`${name}Connection`).implement({
    description: `A page of ${plural}.`,
    fields: (t) => ({
      edges: t.field({
        type: [edge],
        description: 'The entries of the page, in order.',
        extensions: { size: 'page' satisfies ListSize },
        resolve: ({ page }) => page.edges as never,
      }),
      pageInfo: t.field({
        type: PageInfo,
        description: 'Position of the page in the list.',
        resolve: (source) => source,
      }),
    }),
  });
}

/** How the cost of a connection field depends on its arguments; see limits/cost.ts. */
export const PAGE_COST: { readonly page: PageSize } = {
  page: pageCost(SIZES),
};

export function pageCost({ standard, most }: PageSizes): PageSize {
  return { argument: ['first', 'last'], default: standard, max: most };
}

/** Arguments of a connection. @param sizes default: 25, at most 100 */
export function pageArgs({ standard, most }: PageSizes = SIZES) {
  return builder.args((t) => ({
    first: t.int({ description: `Number of entries, 1 to ${String(most)}. Default: ${String(standard)}.` }),
    after: t.string({ description: 'A cursor of an earlier page. Default: starts at the beginning.' }),
    last: t.int({
      description: `Number of entries above \`before\`, or at the end of the list, 1 to ${String(most)}. Not together with \`first\` or \`after\`.`,
    }),
    before: t.string({
      description:
        'A cursor: the page ends above it. Default: ends at the end. Not together with `first` or `after`.',
    }),
  }));
}
