import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandsOf, oneOfEach, stagesOf, type RecordedCommand } from '../../support/commands.ts';
import { collect } from '../../support/collect.ts';
import { erasureParts } from '../../support/erasure.ts';
import { eraseMember } from '../../../parts/erasure/src/erase-member.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { PATIENCE_MS } from '../../support/patience.ts';

/** Enough for a planner to prefer an index over reading everything. */
const MANY = 10_000;
const PEOPLE = 500;
const at = new Date(Date.UTC(2026, 0, 1));

let parts: Parts;

beforeAll(async () => {
  parts = await openParts({ monitorCommands: true });
  const { actions, bookmarks, feeds, follows, interactions, members, moderationLog } =
    parts.database.collections;
  const { itemMarks } = parts.database.collections;
  const newsfeedItems = parts.database.db.collection('newsfeedItems');
  await parts.publish({});
  await parts.fanOut();
  const [template] = await actions.find().toArray();
  if (template === undefined) throw new Error('The action was not recorded');
  const numbers = Array.from({ length: MANY }, (_, n) => n);
  const who = (n: number): string => `u${String(n % PEOPLE)}`;
  await actions.insertMany(
    numbers.map((n) => ({
      ...template,
      _id: new ObjectId(),
      actorId: who(n),
      refIds: [who(n)],
      audience: [`user:${who(n + 1)}`],
      otherIds: [who(n + 2)],
      names: [`${who(n + 3)}\t0000000000`],
    })),
  );
  await interactions.insertMany(
    numbers.map((n) => ({
      _id: new ObjectId(),
      actionId: new ObjectId(),
      key: String(n),
      actorId: who(n),
      departmentIds: [],
      kind: 'LIKE' as const,
      at,
    })),
  );
  await moderationLog.insertMany(
    numbers.map((n) => ({
      _id: new ObjectId(),
      actionId: new ObjectId(),
      at,
      by: who(n),
      kind: 'HIDE' as const,
      reason: null,
    })),
  );
  await feeds.insertMany(
    numbers.map((n) => ({
      _id: `r${String(n)}`,
      mutes: (['MEMBER', 'REF'] as const).map((kind) => ({ kind, value: who(n) })),
    })),
  );
  await members.insertMany(
    numbers.map((n) => ({
      _id: `r${String(n)}`,
      name: 'N',
      teamId: null,
      teamSince: null,
      departmentId: null,
      departmentSince: null,
      supervisorId: who(n),
    })),
  );
  await follows.insertMany(
    numbers.map((n) => ({
      _id: new ObjectId(),
      followerId: who(n),
      refId: `r${String(n)}`,
      active: true,
      spans: [{ since: at }],
    })),
  );
  await itemMarks.insertMany(
    numbers.map((n) => ({ _id: { userId: who(n), actionId: new ObjectId() }, state: 'HIDDEN' as const, at })),
  );
  await bookmarks.insertMany(numbers.map((n) => ({ _id: { userId: who(n), actionId: new ObjectId() }, at })));
  await newsfeedItems.insertMany(
    numbers.map((n) => ({
      _id: new ObjectId(),
      userId: who(n),
      actionId: new ObjectId(),
      relevancy: at,
      reasons: ['FOLLOW' as const],
    })),
  );
});

afterAll(async () => {
  await parts[Symbol.asyncDispose]();
});

/** The local engine plans by statistics that it gathers in the background after so many inserts. */
const planned = { timeout: PATIENCE_MS, interval: 250 };

/** Whether the plan tells something: not of a few documents without an index, and not of a document by its key. */
function namesSomebody({ collection, name, command }: RecordedCommand): boolean {
  if (!['find', 'update', 'delete', 'aggregate', 'findAndModify'].includes(name)) return false;
  if (collection === 'erasures' && name === 'update') return false;
  const deletes = command['deletes'] as readonly { readonly q: object }[] | undefined;
  return deletes === undefined || deletes.some(({ q }) => Object.keys(q).join() !== '_id');
}

/** Of a bulk the first: they are alike, and only one can be explained. */
function firstUpdate(recorded: RecordedCommand): RecordedCommand {
  const updates: unknown = recorded.command['updates'];
  if (!Array.isArray(updates)) return recorded;
  return { ...recorded, command: { ...recorded.command, updates: updates.slice(0, 1) as unknown[] } };
}

async function expectIndexes(commands: readonly RecordedCommand[]): Promise<void> {
  const asked = oneOfEach(commands.filter(namesSomebody).map(firstUpdate));
  expect(asked.length).toBeGreaterThan(10);
  for (const command of asked)
    await expect
      .poll(() => stagesOf(parts.database, command), planned)
      .toSatisfy(
        (stages: Awaited<ReturnType<typeof stagesOf>>) => stages.every(({ stage }) => stage !== 'COLLSCAN'),
        `${command.name} ${command.collection} reads by an index: ${JSON.stringify(command.command).slice(0, 300)}`,
      );
}

test('an export scans no whole collection', async () => {
  await expectIndexes(
    await commandsOf(parts.database, async () => {
      await collect(parts.services.exportMember(parts.session('admin', 'admin'), 'u7'));
    }),
  );
});

test('an erasure scans no whole collection', async () => {
  const dependencies = erasureParts(parts.database);
  await expectIndexes(await commandsOf(parts.database, () => eraseMember(dependencies, parts.admin, 'u9')));
});
