import { MAX_TOTAL } from '../../feed/page/list.ts';
import type { Count as CountSource } from '../../features/shapes.ts';
import { builder } from '../builder.ts';
import type { ListSize } from '../limits/cost.ts';

export const Count = builder.objectRef<CountSource>('Count').implement({
  description:
    'A number of entries. Exact up to 1,000; beyond that, `count` is 1,000 and `isExact` is false.',
  fields: (t) => ({
    count: t.exposeInt('count', { description: 'The number, at most 1,000.' }),
    isExact: t.exposeBoolean('isExact', { description: 'False if there are more than `count`.' }),
  }),
});

/** Computing a total examines up to this many entries. */
export const TOTAL_COST: { readonly size: ListSize } = { size: MAX_TOTAL };
