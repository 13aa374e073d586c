import { LANES } from '../../domain/lane.ts';
import { builder } from '../../graphql/builder.ts';
import { parseActionId } from '../../graphql/global-id.ts';
import { Action } from '../actions/api/action.ts';
import { retryFanOut } from './retry-fan-out.ts';
import type { ListSize } from '../../graphql/limits/cost.ts';
import { LaneEnum } from '../../graphql/types/enums.ts';
import { type LaneDepth as LaneDepthRecord, type WorkOverview as Overview, workOf } from './read-work.ts';
import { readSamples } from './read-samples.ts';
import { MAX_SAMPLES, type Sample as SampleRecord } from './samples.ts';

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
    feedModel: t.exposeString('feedModel', { description: 'How feeds are stored: FEED_MODEL.' }),
    feedCap: t.exposeInt('feedCap', { description: 'Most entries of a stored feed: FEED_CAP.' }),
  }),
});

const Sample = builder.objectRef<SampleRecord>('Sample').implement({
  description: 'What happened in all processes in ten seconds.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When they began.' }),
    published: t.exposeInt('published', { description: 'Actions recorded.' }),
    deliveries: t.exposeInt('deliveries', { description: 'Feed entries added or raised.' }),
    failedAttempts: t.exposeInt('failedAttempts', { description: 'Passes that ended with an error.' }),
    requests: t.exposeInt('requests', { description: 'GraphQL requests.' }),
    errors: t.exposeInt('errors', { description: 'GraphQL requests with an error.' }),
    liveEvents: t.exposeInt('liveEvents', { description: 'Events sent to watchers.' }),
    resyncs: t.exposeInt('resyncs', {
      description: 'Times a watcher was told that events may be missing.',
    }),
    watchers: t.exposeInt('watchers', { description: 'Open subscriptions at the end.' }),
    pending: t.exposeInt('pending', {
      nullable: true,
      description: 'Deliveries waiting or in progress; null: no worker ran.',
    }),
    lagP50: t.exposeFloat('lagP50', {
      nullable: true,
      description:
        'Half of the first deliveries in the minute until the end took no longer, in milliseconds, as estimated from a histogram; null: there was none, or they took over two hours.',
    }),
    lagP99: t.exposeFloat('lagP99', { nullable: true, description: 'The same for 99 %.' }),
  }),
});

builder.queryField('samples', (t) =>
  t.field({
    type: [Sample],
    description:
      'Admin: the last hour by ten seconds, the oldest first, without those in which nothing ran. Empty with tenants, since the figures are of all of them.',
    extensions: { size: MAX_SAMPLES satisfies ListSize },
    resolve: (_root, _args, context) => readSamples(context.core, context.session()),
  }),
);

builder.queryField('work', (t) =>
  t.field({
    type: WorkOverview,
    description: 'Admin: work in progress: deliveries, workers, watchers, rebuilds, renames.',
    resolve: (_root, _args, context) => workOf(context.core, context.session(), 'work'),
  }),
);

builder.mutationField('retryFanOut', (t) =>
  t.field({
    type: Action,
    description: 'Admin: sets a FAILED fan-out back to PENDING. CONFLICT if it has not failed.',
    args: { id: t.arg.id({ required: true, description: 'Global id of the action.' }) },
    resolve: (_root, { id }, context) =>
      context.mutate(({ identity }) => retryFanOut(context.core, identity, parseActionId(id, ['id']))),
  }),
);
