import type { Document } from 'mongodb';
import { expect, test } from 'vitest';
import { examinedDocuments, plannedStages } from '../../support/commands.ts';

// As MongoDB's manual has them in reference/explain-results, without what nothing here reads.
const SCAN = { stage: 'IXSCAN', keyPattern: { userId: 1 }, indexName: 'page', direction: 'backward' };
const FETCH = { stage: 'FETCH', filter: { isHidden: { $eq: false } }, inputStage: SCAN };
const REJECTED = [{ stage: 'COLLSCAN', direction: 'forward' }];
const CLASSIC = { explainVersion: '1', queryPlanner: { winningPlan: FETCH, rejectedPlans: REJECTED } };
const BY_SLOTS = {
  explainVersion: '2',
  queryPlanner: {
    winningPlan: {
      queryPlan: { ...FETCH, planNodeId: 2, inputStage: { ...SCAN, planNodeId: 1 } },
      slotBasedPlan: { slots: '$$RESULT=s11 env: { }', stages: '[2] nlj inner [] [s4, s7]' },
    },
    rejectedPlans: [],
  },
};
const onShard = (shardName: string, { queryPlanner }: Document): Document => ({
  ...{ shardName, connectionString: `${shardName}/host:27018` },
  ...(queryPlanner as Document),
});

test.each<[string, Document, (string | null)[][]]>([
  [
    'of the classic engine',
    CLASSIC,
    [
      ['FETCH', null],
      ['IXSCAN', 'page'],
    ],
  ],
  [
    'of the engine by slots',
    BY_SLOTS,
    [
      ['FETCH', null],
      ['IXSCAN', 'page'],
    ],
  ],
  [
    'with several inputs',
    { queryPlanner: { winningPlan: { stage: 'OR', inputStages: [SCAN, { ...SCAN, indexName: 'other' }] } } },
    [
      ['OR', null],
      ['IXSCAN', 'page'],
      ['IXSCAN', 'other'],
    ],
  ],
  [
    'by id, until 7.0',
    { queryPlanner: { winningPlan: { stage: 'UPDATE', inputStage: { stage: 'IDHACK' } } } },
    [
      ['UPDATE', null],
      ['IDHACK', '_id_'],
    ],
  ],
  [
    'by id, from 8.0',
    { queryPlanner: { winningPlan: { stage: 'EXPRESS_IXSCAN', indexName: '_id_' } } },
    [['EXPRESS_IXSCAN', '_id_']],
  ],
  [
    'of a pipeline, and of one within it',
    {
      explainVersion: '1',
      stages: [
        { $cursor: { queryPlanner: { winningPlan: FETCH, rejectedPlans: REJECTED } }, nReturned: 3 },
        { $unionWith: { coll: 'members', pipeline: [{ $cursor: BY_SLOTS }] } },
        { $group: { _id: '$kind' } },
      ],
      command: { aggregate: 'actions', pipeline: [{ $match: { winningPlan: 1 } }] },
    },
    [
      ['FETCH', null],
      ['IXSCAN', 'page'],
      ['FETCH', null],
      ['IXSCAN', 'page'],
    ],
  ],
  [
    'of a query on several shards',
    {
      queryPlanner: {
        winningPlan: { stage: 'SHARD_MERGE_SORT', shards: [onShard('a', CLASSIC), onShard('b', BY_SLOTS)] },
      },
    },
    [
      ['SHARD_MERGE_SORT', null],
      ['FETCH', null],
      ['IXSCAN', 'page'],
      ['FETCH', null],
      ['IXSCAN', 'page'],
    ],
  ],
  [
    'of a pipeline on several shards',
    {
      ...{ mergeType: 'mongos', splitPipeline: { shardsPart: [], mergerPart: [] } },
      shards: {
        a: { host: 'host:27018', ...CLASSIC },
        b: { host: 'host:27019', stages: [{ $cursor: { queryPlanner: { winningPlan: SCAN } } }] },
      },
    },
    [
      ['FETCH', null],
      ['IXSCAN', 'page'],
      ['IXSCAN', 'page'],
    ],
  ],
])('the plan %s has its stages and indexes', (_name, explained, stages) => {
  expect(plannedStages(explained).map(({ stage, indexName }) => [stage, indexName])).toEqual(stages);
});

test.each<[string, Document, number]>([
  ['of a query', { executionStats: { totalDocsExamined: 21 } }, 21],
  [
    'of a query on several shards',
    {
      executionStats: {
        totalDocsExamined: 21,
        executionStages: { stage: 'SHARD_MERGE', shards: [{ executionStats: { totalDocsExamined: 10 } }] },
      },
    },
    21,
  ],
  [
    'of a pipeline on several shards',
    {
      shards: {
        a: { executionStats: { totalDocsExamined: 10 } },
        b: { stages: [{ $cursor: { executionStats: { totalDocsExamined: 11 } } }] },
      },
    },
    21,
  ],
])('the documents that were read are counted once %s', (_name, explained, count) => {
  expect(examinedDocuments(explained)).toBe(count);
});
