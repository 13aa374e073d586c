import { archiveOf } from '../../../parts/archive/src/store/offloads.ts';
import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandsOf, documentsRead, stagesOf, type RecordedCommand } from '../../support/commands.ts';
import { nameStamp } from '../../../src/storage/stamps/directory-stamps.ts';
import type { SourceKeys } from '../../../src/storage/actions/source-actions.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { PATIENCE_MS } from '../../support/patience.ts';

/** Enough for a planner to prefer an index over reading everything. */
const MANY = 20_000;
const BATCH = 5_000;
const start = Date.UTC(2026, 0, 1);
const at = (n: number): Date => new Date(start + n * 1_000);

let parts: Parts;
let cascadeId: string;

beforeAll(async () => {
  parts = await openParts({ monitorCommands: true });
  const newsfeedItems = parts.database.db.collection('newsfeedItems');
  const { follows, members, actions, interactions } = parts.database.collections;
  const { action } = await parts.publish({ refs: [{ id: 'r1', type: 'site', label: 'One' }] });
  cascadeId = action.id;
  const [template] = await actions.find().toArray();
  if (template === undefined) throw new Error('The action was not recorded');
  const { leaseUntil: _leaseUntil, ...fanOut } = template.fanOut;
  const everybody = Array.from({ length: 200 }, (_, n) => `u${String(n)}`);
  await parts.feedStore.deliver([
    {
      actionId: cascadeId,
      readers: everybody.map((userId) => ({ userId, relevancy: at(0), reasons: ['FOLLOW'] })),
      isFirstAttempt: true,
    },
  ]);
  for (let from = 0; from < MANY; from += BATCH) {
    const numbers = Array.from({ length: BATCH }, (_, n) => from + n);
    await newsfeedItems.insertMany(
      numbers.map((n) => ({
        _id: new ObjectId(),
        userId: `u${String(n % 200)}`,
        actionId: new ObjectId(),
        relevancy: at(n),
        reasons: ['FOLLOW' as const],
      })),
    );
    await interactions.insertMany(
      numbers.map((n) => ({
        _id: new ObjectId(),
        actionId: new ObjectId(),
        key: String(n),
        actorId: `u${String(n % 200)}`,
        departmentIds: [],
        kind: 'LIKE' as const,
        at: at(n),
        ...(n % 50 === 0 ? { passedOn: at(n) } : {}),
      })),
    );
    await follows.insertMany(
      numbers.map((n) => ({
        _id: new ObjectId(),
        followerId: `u${String(n)}`,
        refId: `r${String(n % 50)}`,
        active: true,
        spans: [{ since: at(0) }],
      })),
    );
    await members.insertMany(
      numbers.map((n) => ({
        _id: `u${String(n)}`,
        name: 'N',
        teamId: `t${String(n % 100)}`,
        teamSince: at(0),
        departmentId: `d${String(n % 20)}`,
        departmentSince: at(0),
        supervisorId: null,
        search: { terms: ['', `w${String(n % 200)}`, `x${String(n % 300)}`], order: String(n) },
      })),
    );
    await actions.insertMany(
      numbers.map((n) => ({
        ...template,
        _id: new ObjectId(),
        actorId: `u${String(n % 100)}`,
        idempotencyKey: String(n),
        refIds: [`r${String(n % 50)}`, `u${String(n % 100)}`],
        names: [nameStamp(`r${String(n % 50)}`, 0)],
        descriptor: { ...template.descriptor, ...(n % 2 === 0 ? { raterId: `u${String(n % 100)}` } : {}) },
        conducted: at(n),
        recorded: at(n),
        latest: at(n),
        ...(n % 50 === 0 ? { reshares: [{ by: `u${String(n % 200)}`, at: at(n) }], isBumped: true } : {}),
        fanOut: {
          ...fanOut,
          state:
            n % 1_000 === 0 ? ('FAILED' as const) : n % 10 === 0 ? ('PENDING' as const) : ('DONE' as const),
          ...(n % 10 === 0
            ? { leaseUntil: at(n), lane: n % 100 === 0 ? ('LIVE' as const) : ('BULK' as const) }
            : {}),
        },
      })),
    );
  }
});

afterAll(async () => {
  await parts[Symbol.asyncDispose]();
});

/** The local engine plans by statistics that it gathers in the background after so many inserts. */
const planned = { timeout: PATIENCE_MS, interval: 250 };

const feedArgs = { userId: 'u7', limit: 26 };
const FIRST = { from: null, isUp: false, limit: 26 } as const;
const ofRater = {
  beside: 'ann',
  ...{ state: null, includeHidden: false, ...FIRST },
  descriptorField: { field: 'raterId', value: 'u8' },
};
const named = { beside: 'ann', ...FIRST };
const sliceArgs = { refId: 'r3', ...FIRST };

/** Of a day, or what was interacted with since and conducted by then. */
function candidates(keys: Partial<SourceKeys>, bumpedAndConductedBy?: Date): Promise<unknown> {
  return parts.repositories.sourceActions.candidates(
    { audience: [], refIds: [], pullRefIds: [], passerIds: [], ...keys },
    bumpedAndConductedBy === undefined
      ? { window: { above: at(10_000), upTo: at(10_500) }, most: 2_000 }
      : { window: { above: bumpedAndConductedBy, upTo: null, bumpedAndConductedBy }, most: null },
  );
}

/** What was found by its index is claimed by its id. */
function isById({ name, command }: RecordedCommand): boolean {
  return name === 'findAndModify' && '_id' in (command['query'] as object);
}

/** The first batch of what these have passed on in the last hours. */
async function passedOn(by: readonly string[]): Promise<void> {
  for await (const _some of parts.repositories.interactions.passedOnBy(by, at(10_000))) return;
}

/** The first batch of what was conducted in the last minute. */
async function scored({ repositories }: Parts): Promise<void> {
  for await (const _actions of repositories.rankedActions.conductedSince(new Date(Date.now() - 60_000)))
    return;
}

describe('no hot query scans a whole collection', () => {
  test.each<[string, string, () => Promise<unknown>]>([
    ['the first page of a feed', 'page', () => parts.feedStore.page(feedArgs)],
    [
      'a later page of a feed',
      'page',
      () => parts.feedStore.page({ ...feedArgs, after: { relevancy: at(15_000), actionId: 'a'.repeat(24) } }),
    ],
    [
      'a time range of a feed',
      'page',
      () => parts.feedStore.page({ ...feedArgs, since: at(19_000), until: at(19_900) }),
    ],
    ['entries of given actions', '_id_', () => parts.feedStore.find('u7', [cascadeId])],
    [
      "a reader's newest interactions",
      'actor',
      () => parts.repositories.interactions.newestBy('u7', new Date(), 200),
    ],
    ['the holders of an action', '_id_', () => parts.feedStore.holders(cascadeId, { limit: 100 })],
    ['the cascade of an action', '_id_', () => parts.feedStore.remove(['u7', 'u8'], [cascadeId])],
    [
      'a raise',
      '_id_',
      () =>
        parts.feedStore.deliver([
          {
            actionId: cascadeId,
            readers: [{ userId: 'u99', relevancy: at(99_999), reasons: ['TEAM'] }],
            isFirstAttempt: false,
          },
        ]),
    ],
    ['the first page of a slice', 'slice', () => parts.repositories.actions.slice(sliceArgs)],
    [
      'the first page of a slice, with its reader',
      'slice',
      () => parts.repositories.actions.sliceWithReader(sliceArgs, 'u7'),
    ],
    [
      'a later page of a slice',
      'slice',
      () =>
        parts.repositories.actions.slice({
          ...sliceArgs,
          from: { conducted: at(15_000), id: 'a'.repeat(24) },
        }),
    ],
    [
      'a page of a slice above another',
      'slice',
      () =>
        parts.repositories.actions.slice({
          ...sliceArgs,
          from: { conducted: at(15_000), id: 'a'.repeat(24) },
          isUp: true,
        }),
    ],
    [
      'a slice with every filter',
      'slice',
      () =>
        parts.repositories.actions.slice({
          ...sliceArgs,
          types: ['Custom'],
          actorIds: ['u3', 'u53'],
          since: at(1_000),
          until: at(19_000),
        }),
    ],
    [
      'which actions of a feed pass its filter',
      '_id_',
      () =>
        parts.repositories.actions.matching([cascadeId, 'a'.repeat(24)], {
          types: ['Custom'],
          actorIds: ['u3'],
          refId: 'r1',
        }),
    ],
    ['what a reader may be shown from the source', 'source', () => candidates({ refIds: ['r1', 'r2'] })],
    [
      'the same by the time at which it was conducted',
      'slice',
      () =>
        parts.repositories.sourceActions.candidates(
          { audience: [], refIds: ['r1', 'r2'], pullRefIds: [], passerIds: [] },
          { window: { above: at(10_000), upTo: at(10_500), isOfConducted: true }, most: 2_000 },
        ),
    ],
    [
      'what was conducted ahead of the clock',
      'ahead',
      () =>
        parts.repositories.sourceActions.conductedAhead('u1', {
          ...{ recordedBy: at(10_000), since: at(10_000), most: 100 },
        }),
    ],
    ['the same by audience', 'audience', () => candidates({ audience: ['user:u1'] })],
    ['what is pulled', 'pull', () => candidates({ pullRefIds: ['r1', 'r2'] })],
    [
      'what was bumped past a page of the source',
      'source_bumped',
      () => candidates({ refIds: ['r1', 'r2'] }, at(100)),
    ],
    ['the same by audience', 'audience_bumped', () => candidates({ audience: ['user:u1'] }, at(100))],
    ['what members have passed on', 'reshared', () => candidates({ passerIds: ['u1', 'u2'] })],
    [
      'the same that was bumped past a page of the source',
      'reshared',
      () => candidates({ passerIds: ['u1', 'u2'] }, at(100)),
    ],
    ['what a member has passed on since', 'passed_on', () => passedOn(['u1', 'u2'])],
    ['which refs are pulled', 'pulled', () => parts.repositories.refs.pulled()],
    [
      'whether anybody is dormant',
      'active',
      () => parts.repositories.feeds.hasDormant({ read: at(5), neverRead: null }),
    ],
    [
      'whether anybody has not begun to read',
      'awaited',
      () => parts.repositories.feeds.hasDormant({ read: null, neverRead: at(5) }),
    ],
    [
      'how much of a file is not out yet',
      'offload',
      () => archiveOf(parts.core).offloads.countUnfinished('1'),
    ],
    [
      'which follows were cut off',
      'unsettled',
      () => parts.repositories.follows.unsettledBefore(new Date(Date.now() + 60_000), 200),
    ],
    [
      'whose mutes have ended',
      'mute_wake',
      () => parts.repositories.feedMutes.claimMuteEnds({ token: 'w', now: new Date(), leaseMs: 1 }, 100),
    ],
    ['which feeds are to be cut', 'trim', () => parts.repositories.feeds.dueTrims(new Date(), 50)],
    ['what is to be scored again', '_id_', () => scored(parts)],
    ['the newest actions of a ref', 'recorded_by_ref', () => parts.repositories.actions.nthNewest('r3', 100)],
    [
      'what a new span holds',
      'recorded_by_ref',
      () => parts.repositories.followStarts.broughtSince(['r3'], at(19_900), null, []),
    ],
    [
      'what a follow starts from',
      'recorded_by_ref',
      () =>
        parts.repositories.followStarts.start(
          { followerId: 'u7', refId: 'r3' },
          { count: 100, withBlock: true },
        ),
    ],
    [
      'the claim',
      'claim_by_lane',
      () => parts.repositories.fanOuts.claim('w', new Date(), 1_000, { takesOver: false }),
    ],
    [
      'the claim of one lane',
      'claim_by_lane',
      () =>
        parts.repositories.fanOuts.claim('w', new Date(), 1_000, {
          ...{ lanes: [{ lane: 'BULK', most: 1 }], takesOver: false },
        }),
    ],
    [
      'the search for expired leases',
      'claim_by_lane',
      () => parts.repositories.fanOuts.claim('w', at(0), 1_000, { lanes: [] }),
    ],
    [
      'when the next pass that was put off is due',
      'claim_by_lane',
      () => parts.repositories.fanOuts.nextDue(new Date()),
    ],
    [
      'failed fan-outs',
      'claim_by_lane',
      () =>
        parts.repositories.actions.list({
          beside: 'ann',
          state: 'FAILED',
          includeHidden: true,
          ...{ from: null, isUp: false, limit: 26 },
        }),
    ],
    ['actions of a rater', 'descriptor_raterId_newest', () => parts.repositories.actions.list(ofRater)],
    [
      'actions that hold an older name',
      'names',
      () => parts.repositories.renames.carry('r777', { name: 'New', version: 3 }, 1_000),
    ],
    [
      'the next name to carry',
      'rename',
      () => parts.repositories.renames.claim({ token: 'w', now: new Date(), leaseMs: 1_000 }),
    ],
    [
      'the first action that names a ref',
      'recorded_by_ref',
      () => parts.repositories.actions.firstNaming(['r1', 'unheard-of']),
    ],
    [
      'the same where the process has looked before',
      'recorded_by_ref',
      () => parts.repositories.actions.firstNaming(['r1', 'unheard-of']),
    ],
    [
      'what a member calls who blocks them',
      'unnamed',
      () => parts.repositories.actions.firstUnnamed([{ actorId: 'u1', refId: 'r3' }]),
    ],
    ['followers of a ref', 'by_ref', () => parts.repositories.follows.followers('r3', 'u500', 1_000)],
    ['what a reader follows', 'pair', () => parts.repositories.followStarts.following('u500', FIRST)],
    [
      'what a reader follows, above a place',
      'pair',
      () =>
        parts.repositories.followStarts.following('u500', { ...FIRST, from: { refId: 'r5' }, isUp: true }),
    ],
    ["a reader's follows of given refs", 'pair', () => parts.repositories.follows.find('u500', ['r0', 'r1'])],
    [
      'members of a team',
      'team',
      () => parts.repositories.members.inGroup({ kind: 'team', id: 't5' }, 'u3', 1_000),
    ],
    [
      'members by a word of their names',
      'search',
      () => parts.repositories.members.search({ ...named, text: 'w7' }),
    ],
    [
      'members by two words, further down',
      'search',
      () => parts.repositories.members.search({ ...named, text: 'w7 x7', from: { order: '5', id: 'u5' } }),
    ],
    [
      'members by two words, above a place',
      'search',
      () =>
        parts.repositories.members.search({
          ...{ ...named, text: 'w7 x7' },
          ...{ from: { order: '5', id: 'u5' }, isUp: true },
        }),
    ],
    [
      'members of a department',
      'department',
      () => parts.repositories.members.inGroup({ kind: 'department', id: 'd5' }, 'u3', 1_000),
    ],
  ])('%s goes by the index %s', async (_name, indexName, work) => {
    const commands = (await commandsOf(parts.database, work)).filter(({ name }) => name !== 'insert');
    expect(commands.length).toBeGreaterThan(0);
    for (const command of commands)
      await expect
        .poll(() => stagesOf(parts.database, command), planned)
        .toSatisfy(
          (stages: Awaited<ReturnType<typeof stagesOf>>) =>
            stages.some((stage) => stage.indexName === (isById(command) ? '_id_' : indexName)) &&
            stages.every(({ stage }) => stage !== 'COLLSCAN'),
        );
  });

  test('a claim reads no more actions than it takes, and one to see whether there are more', async () => {
    const most = 20;
    const lanes = (['URGENT', 'LIVE', 'BULK'] as const).map((lane) => ({ lane, most }));
    const now = new Date();
    // The second one goes on where the first one ended.
    for (let n = 0; n < 2; n++) {
      const commands = await commandsOf(parts.database, async () => {
        const { claims } = await parts.repositories.fanOuts.claim('w', now, 1_000, {
          ...{ lanes, takesOver: false },
        });
        expect(claims.map(({ lane }) => lane)).toEqual(Array.from({ length: most }, () => 'LIVE'));
      });
      expect(commands.map(({ name }) => name)).toEqual(['aggregate', 'update', 'find']);
      const [search] = commands;
      if (search === undefined) throw new Error('There was no search');
      await expect.poll(() => documentsRead(parts.database, search), planned).toBe(most + 1);
    }
  });

  test('pages of feeds and slices, and actions of a rater, are read in index order, without sorting', async () => {
    const commands = await commandsOf(parts.database, async () => {
      await parts.feedStore.page(feedArgs);
      await parts.feedStore.page({ ...feedArgs, after: { relevancy: at(15_000), actionId: 'a'.repeat(24) } });
      await parts.repositories.actions.slice(sliceArgs);
      await parts.repositories.actions.list(ofRater);
    });
    expect(commands.length).toBe(4);
    for (const command of commands)
      await expect
        .poll(() => stagesOf(parts.database, command), planned)
        .toSatisfy((stages: Awaited<ReturnType<typeof stagesOf>>) =>
          stages.every(({ stage }) => stage !== 'SORT' && stage !== 'COLLSCAN'),
        );
  });
});
