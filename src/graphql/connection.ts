import type { ObjectRef } from '@pothos/core';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../feed/page/paging.ts';
import type { Page, Count as CountSource } from '../core/shapes.ts';
import { builder } from './builder.ts';
import { SHARED } from './shared-field.ts';
import type { ListSize, PageSize } from './limits/cost.ts';
import { MAX_TOTAL } from '../feed/page/list.ts';

export const Count = builder.objectRef<CountSource>('Count').implement({
  description:
    'A number of entries. Exact up to 1,000; beyond that, `count` is 1,000 and `isExact` is false.',
  fields: (t) => ({
    count: t.exposeInt('count', { description: 'The number, at most 1,000.', extensions: SHARED }),
    isExact: t.exposeBoolean('isExact', {
      description: 'False if there are more than `count`.',
      extensions: SHARED,
    }),
  }),
});

/** Computing a total examines up to this many entries. */
export const TOTAL_COST: { readonly size: ListSize } = { size: MAX_TOTAL };

type SchemaTypes = typeof builder.$inferSchemaTypes;

/** Source of a connection field: the page, and whether it is the first. */
export interface ConnectionSource<P> {
  readonly page: P;
  readonly isFirst: boolean;
}

export function toConnection<P>(page: P, args: { after?: string | null | undefined }): ConnectionSource<P> {
  return { page, isFirst: args.after == null };
}

const PageInfo = builder.objectRef<ConnectionSource<Page<unknown>>>('PageInfo').implement({
  description: 'Position of a page in its list.',
  fields: (t) => ({
    hasNextPage: t.boolean({
      description: 'Whether there are more visible entries.',
      resolve: ({ page }) => page.hasNextPage,
    }),
    hasPreviousPage: t.boolean({
      description: 'Whether the page was requested with `after`.',
      resolve: ({ isFirst }) => !isFirst,
    }),
    startCursor: t.string({
      nullable: true,
      description: 'The cursor of the first entry; null on an empty page.',
      resolve: ({ page }) => page.edges[0]?.cursor ?? null,
    }),
    endCursor: t.string({
      nullable: true,
      description:
        'The next page starts after this cursor. It may be beyond the last entry, at an entry that is not visible.',
      resolve: ({ page }) => page.endCursor,
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
      cursor: t.exposeString('cursor', { description: 'Pass it as `after` to continue after this entry.' }),
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
  page: { argument: 'first', default: DEFAULT_PAGE_SIZE, max: MAX_PAGE_SIZE },
};

/** Arguments of a forward connection. */
export function pageArgs() {
  return builder.args((t) => ({
    first: t.int({
      description: `Number of entries, 1 to ${String(MAX_PAGE_SIZE)}. Default: ${String(DEFAULT_PAGE_SIZE)}.`,
    }),
    after: t.string({ description: 'A cursor of an earlier page. Default: starts at the beginning.' }),
  }));
}
