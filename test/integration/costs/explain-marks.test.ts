import { bookmarksOf } from '../../../parts/bookmarks/src/use-cases.ts';
import { ObjectId, type Document } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandsOf, stagesOf, type RecordedCommand } from '../../support/commands.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { PATIENCE_MS } from '../../support/patience.ts';

/** Enough for a planner to prefer an index over reading everything. */
const MANY = 10_000;
const BATCH = 5_000;
const start = Date.UTC(2026, 0, 1);
const at = (n: number): Date => new Date(start + n * 1_000);
const idOf = (n: number): ObjectId => new ObjectId(n.toString(16).padStart(24, '0'));
const hexOf = (n: number): string => idOf(n).toHexString();

let parts: Parts;

beforeAll(async () => {
  parts = await openParts({ monitorCommands: true });
  const { actions, bookmarks, follows, interactions, itemMarks } = parts.database.collections;
  const { action } = await parts.publish({});
  const template = await actions.findOne({ _id: new ObjectId(action.id) });
  if (template === null) throw new Error('The action was not recorded');
  for (let from = 1; from <= MANY; from += BATCH) {
    const numbers = Array.from({ length: BATCH }, (_, n) => from + n);
    await actions.insertMany(
      numbers.map((n) => ({
        ...template,
        _id: idOf(n),
        idempotencyKey: String(n),
        ...(n % 50 === 0 ? { expiresAt: at(n) } : {}),
      })),
    );
    await interactions.insertMany(
      numbers.map((n) => ({
        _id: new ObjectId(),
        actionId: idOf(1 + (n % 200)),
        ...{ key: String(n), actorId: `u${String(n % 100)}`, departmentIds: [], kind: 'COMMENT' as const },
        at: at(n),
        ...(n % 10 === 0 ? { parentId: idOf(1 + (n % 1_000)) } : {}),
        ...(n % 2 === 0 ? { text: 'A comment' } : {}),
        ...(n % 500 === 0 ? { settling: idOf(n) } : {}),
      })),
    );
    const ofReader = (n: number) => ({ userId: `u${String(n % 100)}`, actionId: idOf(n) });
    await itemMarks.insertMany(
      numbers.map((n) => ({
        _id: ofReader(n),
        ...(n % 3 === 0 ? { isUnread: true as const } : { state: 'HIDDEN' as const, at: at(n) }),
      })),
    );
    await bookmarks.insertMany(numbers.map((n) => ({ _id: ofReader(n), at: at(n) })));
    await follows.insertMany(
      numbers.map((n) => ({
        _id: new ObjectId(),
        ...{ followerId: `u${String(n)}`, refId: `r${String(n % 50)}`, active: true },
        spans: [{ since: at(0) }],
        ...(n % 10 === 0 ? { isAssigned: true as const } : {}),
      })),
    );
  }
});

afterAll(async () => {
  await parts[Symbol.asyncDispose]();
});

/** The lists that an aggregate brings beside, each as the query that it is for one of its actions. */
function listsBeside({ command }: RecordedCommand): RecordedCommand[] {
  const pipeline = command['pipeline'] as Document[];
  return pipeline.flatMap((stage) => {
    const lookup = stage['$lookup'] as Document | undefined;
    if (lookup === undefined) return [];
    const stages = lookup['pipeline'] as Document[];
    const of = (name: string): unknown => stages.find((one) => name in one)?.[name];
    const collection = String(lookup['from']);
    const filter = { [String(lookup['foreignField'])]: idOf(7), ...(of('$match') as object) };
    const find = { find: collection, filter, sort: of('$sort'), limit: of('$limit') };
    return [{ name: 'find', collection, command: find }];
  });
}

const page = (more: object) => ({
  ...{ kinds: ['COMMENT', 'LIKE'] as const, from: null, isUp: false, limit: 26, withHidden: false },
  ...more,
});

const FIRST = { from: null, isUp: false, limit: 26 } as const;

/** By name: the index, whether the order comes out of it, and the work. */
const QUERIES: readonly [string, string, 'in order' | 'in any order', () => Promise<unknown>][] = [
  [
    'interactions of actions',
    'list',
    'in order',
    () => parts.repositories.interactions.newestOf([hexOf(7), hexOf(8)], page({})),
  ],
  [
    'what replies to nothing, behind a place',
    'list',
    'in order',
    () =>
      parts.repositories.interactions.newestOf(
        [hexOf(7)],
        page({ parentId: null, from: { at: at(5_000), id: hexOf(1) } }),
      ),
  ],
  [
    'interactions of an action, above a place',
    'list',
    'in order',
    () =>
      parts.repositories.interactions.newestOf(
        [hexOf(7)],
        page({ from: { at: at(5_000), id: hexOf(1) }, isUp: true }),
      ),
  ],
  [
    'what somebody did with actions',
    'own',
    'in any order',
    () =>
      parts.repositories.interactions.own([
        { userId: 'u7', actionId: hexOf(8) },
        { userId: 'u7', actionId: hexOf(9) },
      ]),
  ],
  ['the newest texts', 'texts', 'in order', () => parts.repositories.interactions.latestTexts('ann', FIRST)],
  [
    'interactions that were cut off',
    'unsettled',
    'in any order',
    () => parts.repositories.interactions.unsettledBefore(new Date(Date.now() + 60_000), 100),
  ],
  [
    'what an action was done with',
    'key',
    'in any order',
    () => parts.repositories.interactions.summaries([hexOf(7), hexOf(8)]),
  ],
  [
    'what a reader hid, newest first',
    'state',
    'in order',
    () => parts.repositories.itemMarks.list('u7', 'HIDDEN', FIRST),
  ],
  [
    'what a reader marked as unread',
    'unread',
    'in any order',
    () => parts.repositories.itemMarks.unread('u9'),
  ],
  ['bookmarks of a reader', 'newest', 'in order', () => bookmarksOf(parts.core).list('u7', FIRST)],
  [
    'bookmarks behind a place',
    'newest',
    'in order',
    () => bookmarksOf(parts.core).list('u7', { ...FIRST, from: { at: at(5_007), actionId: hexOf(5_007) } }),
  ],
  [
    'bookmarks above a place',
    'newest',
    'in order',
    () =>
      bookmarksOf(parts.core).list('u7', {
        from: { at: at(5_007), actionId: hexOf(5_007) },
        ...{ isUp: true, limit: 26 },
      }),
  ],
  [
    'actions whose time has come',
    'expiry',
    'in order',
    () => parts.repositories.moderation.expired(at(5_000), 100),
  ],
  [
    'who follows refs as assigned',
    'assigned',
    'in any order',
    () => parts.repositories.follows.assignedAmong(['u10', 'u20'], ['r10', 'r20']),
  ],
];

test.each(QUERIES)('%s: uses the index %s, %s', async (_name, indexName, order, work) => {
  const sent = await commandsOf(parts.database, work);
  const reads = sent.flatMap((command) =>
    command.name === 'aggregate' && JSON.stringify(command.command).includes('$lookup')
      ? listsBeside(command)
      : [command],
  );
  expect(reads.length).toBeGreaterThan(0);
  for (const read of reads)
    await expect
      .poll(() => stagesOf(parts.database, read), { timeout: PATIENCE_MS, interval: 250 })
      .toSatisfy(
        (stages: Awaited<ReturnType<typeof stagesOf>>) =>
          stages.some((stage) => stage.indexName === indexName) &&
          stages.every(({ stage }) => stage !== 'COLLSCAN' && (order !== 'in order' || stage !== 'SORT')),
      );
});
