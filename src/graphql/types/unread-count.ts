import type { UnreadCount as UnreadCountSource } from '../../services/shapes.ts';
import { builder } from '../builder.ts';

export const UnreadCount = builder.objectRef<UnreadCountSource>('UnreadCount').implement({
  description:
    'How many entries of a feed are unread, by the same rules as the list. Exact up to 100; beyond that count is 100 ' +
    'and isExact false.',
  fields: (t) => ({
    count: t.exposeInt('count', { description: 'The number of unread entries, at most 100.' }),
    isExact: t.exposeBoolean('isExact', { description: 'False when there are more than count says.' }),
  }),
});
