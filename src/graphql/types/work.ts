import type {
  LaneDepth as LaneDepthRecord,
  WorkOverview as Overview,
} from '../../services/operations/read-work.ts';
import { LANES } from '../../domain/lane.ts';
import { builder } from '../builder.ts';
import type { ListSize } from '../limits/cost.ts';
import { LaneEnum } from './enums.ts';

const LaneDepth = builder.objectRef<LaneDepthRecord>('LaneDepth').implement({
  description: 'The deliveries of one lane that are not done.',
  fields: (t) => ({
    lane: t.field({ type: LaneEnum, description: 'Which lane.', resolve: ({ lane }) => lane }),
    pending: t.exposeInt('pending', { description: 'Deliveries that wait or are being worked on.' }),
    oldestSeconds: t.exposeFloat('oldestSeconds', {
      description: 'How long the oldest of those that wait has been due; 0: none waits.',
    }),
  }),
});

const WorkOverview = builder.objectRef<Overview>('WorkOverview').implement({
  description: 'What is under way in all processes.',
  fields: (t) => ({
    lanes: t.field({
      type: [LaneDepth],
      description: 'Every lane, the most urgent first.',
      extensions: { size: LANES.length satisfies ListSize },
      resolve: (work) => work.lanes(),
    }),
    workers: t.int({
      description:
        'Processes that work in the background. One that dies is counted for up to 90 seconds more.',
      resolve: (work) => work.workers(),
    }),
    watchers: t.int({
      description: 'Readers who watch their feed, or did within the window in which they can resume.',
      resolve: (work) => work.watchers(),
    }),
    rebuildsDue: t.int({
      description: 'Feeds that are to be rebuilt or are being rebuilt.',
      resolve: (work) => work.rebuildsDue(),
    }),
    renamesDue: t.int({
      description: 'Names that have not reached all copies.',
      resolve: (work) => work.renamesDue(),
    }),
    failedFanOuts: t.int({
      description: 'Deliveries that were given up; retryFanOut takes them up again.',
      resolve: (work) => work.failedFanOuts(),
    }),
  }),
});

builder.queryField('work', (t) =>
  t.field({
    type: WorkOverview,
    description: 'Admin: what is under way: deliveries, workers, watchers, rebuilds, renames.',
    resolve: (_root, _args, context) => context.services.readWork(context.identity()),
  }),
);
