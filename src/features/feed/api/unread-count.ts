import { Viewer } from '../../viewer/api.ts';
import { countUnread } from '../../../feed/page/unread.ts';
import { MAX_UNREAD } from '../../../feed/page/list.ts';
import type { UnreadCount as UnreadCountSource } from '../../../core/shapes.ts';
import { builder } from '../../../graphql/builder.ts';
import type { ListSize } from '../../../graphql/limits/cost.ts';

export const UnreadCount = builder.objectRef<UnreadCountSource>('UnreadCount').implement({
  description:
    'Number of unread entries of a feed, by the same rules as the list. Exact up to 100; beyond that, `count` is 100 and `isExact` is false. Also false for a feed of which few entries match: `count` is how many were found then.',
  fields: (t) => ({
    count: t.exposeInt('count', { description: 'The number of unread entries, at most 100.' }),
    isExact: t.exposeBoolean('isExact', { description: 'False if there may be more than `count`.' }),
  }),
});

/** Counting reads up to this many visible items, and more where the rules leave gaps. */
export const UNREAD_COST: { readonly size: ListSize } = { size: MAX_UNREAD };

builder.objectFields(Viewer, (t) => ({
  unreadCount: t.field({
    type: UnreadCount,
    description: 'Unread entries of the whole feed.',
    extensions: UNREAD_COST,
    resolve: (_source, _args, context) => countUnread(context.core, context.session()),
  }),
}));
