import { builder } from '../builder.ts';
import { PAGE_COST, pageArgs, toConnection } from '../connection.ts';
import { ActionConnection } from './action.ts';
import { ActionFilter } from './action-filter.ts';
import { readSlice } from '../../services/feed/read-actions.ts';

builder.queryField('slice', (t) =>
  t.field({
    type: ActionConnection,
    description:
      'All visible actions that carry the ref id, newest first (conducted, then id), without relevancy: the profile of ' +
      'an actor, the page of a thing.',
    args: {
      refId: t.arg.string({ required: true, description: 'Id of the ref or of the actor.' }),
      ...pageArgs(),
      filter: t.arg({ type: ActionFilter, description: 'Only entries that match.' }),
    },
    extensions: PAGE_COST,
    resolve: async (_root, { refId, ...args }, context) =>
      toConnection(await readSlice(context.core, context.session(), refId, args), args),
  }),
);
