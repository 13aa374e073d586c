import { LANES } from '../../domain/lane.ts';
import { builder } from '../../graphql/builder.ts';
import type { ListSize } from '../../graphql/limits/cost.ts';
import { LaneEnum } from '../../graphql/types/enums.ts';
import { type LaneDepth as LaneDepthRecord, type WorkOverview as Overview, readWork } from './read-work.ts';

const LaneDepth = builder.objectRef<LaneDepthRecord>('LaneDepth').implement({
  description: 'Unfinished deliveries of one lane.',
  fields: (t) => ({
    lane: t.expose('lane', { type: LaneEnum, description: 'The lane.' }),
    pending: t.exposeInt('pending', { description: 'Deliveries that are waiting or in progress.' }),
    oldestSeconds: t.exposeFloat('oldestSeconds', {
      description: 'How many seconds the oldest waiting delivery has been due; 0: none is waiting.',
    }),
  }),
});

const WorkOverview = builder.objectRef<Overview>('WorkOverview').implement({
  description: 'Work in progress in all processes.',
  fields: (t) => ({
    lanes: t.field({
      type: [LaneDepth],
      description: 'All lanes, most urgent first.',
      extensions: { size: LANES.length satisfies ListSize },
      resolve: (work) => work.lanes(),
    }),
    workers: t.int({
      description: 'Worker processes. A process that dies is counted for up to 90 more seconds.',
      resolve: (work) => work.workers(),
    }),
    watchers: t.int({
      description: 'Readers who watch their feed, or did so within the time in which they can resume.',
      resolve: (work) => work.watchers(),
    }),
    rebuildsDue: t.int({
      description: 'Feeds waiting to be rebuilt or being rebuilt.',
      resolve: (work) => work.rebuildsDue(),
    }),
    renamesDue: t.int({
      description: 'Renames that have not reached all copies.',
      resolve: (work) => work.renamesDue(),
    }),
    failedFanOuts: t.int({
      description: 'Failed deliveries; retryFanOut retries them.',
      resolve: (work) => work.failedFanOuts(),
    }),
  }),
});

builder.queryField('work', (t) =>
  t.field({
    type: WorkOverview,
    description: 'Admin: work in progress: deliveries, workers, watchers, rebuilds, renames.',
    resolve: (_root, _args, context) => readWork(context.core, context.identity()),
  }),
);
