import type { Collection } from 'mongodb';
import { expect, test } from 'vitest';
import { testDatabase } from '../../../../test/support/engine.ts';
import { repeats } from '../../../../test/support/seed.ts';

interface Thing {
  readonly _id: string;
  readonly name: string;
  readonly rewritten?: number;
}

const ROUNDS = repeats(10);
const AT_ONCE = 20;

test.for<[string, (things: Collection<Thing>, _id: string) => Promise<boolean>]>([
  ['deleteOne by id', async (things, _id) => (await things.deleteOne({ _id })).deletedCount === 1],
  [
    'deleteOne by id and another field',
    async (things, _id) => (await things.deleteOne({ _id, name: _id })).deletedCount === 1,
  ],
  ['deleteOne by name', async (things, name) => (await things.deleteOne({ name })).deletedCount === 1],
  [
    'deleteOne by a condition on the id',
    async (things, _id) => (await things.deleteOne({ _id: { $gte: _id, $lte: _id } })).deletedCount === 1,
  ],
  [
    'deleteOne by an expression with a variable',
    async (things, name) =>
      (await things.deleteOne({ name, $expr: { $eq: ['$name', '$$it'] } }, { let: { it: name } }))
        .deletedCount === 1,
  ],
  [
    'a batch',
    async (things, name) =>
      (
        await things.bulkWrite([
          { deleteOne: { filter: { name: 'nobody' } } },
          { deleteOne: { filter: { name } } },
          { deleteOne: { filter: { _id: 'nothing' } } },
        ])
      ).deletedCount === 1,
  ],
  ['deleteMany', async (things, name) => (await things.deleteMany({ name })).deletedCount === 1],
  ['findOneAndDelete', async (things, _id) => (await things.findOneAndDelete({ _id }))?._id === _id],
  [
    'findOneAndDelete by name',
    async (things, name) => (await things.findOneAndDelete({ name }))?.name === name,
  ],
])('what rivals rewrite meanwhile is deleted by %s, and it says so', async ([, remove]) => {
  await using database = await testDatabase();
  const things = database.db.collection<Thing>('things');
  await things.createIndex({ name: 1 });
  for (let round = 0; round < ROUNDS; round += 1) {
    const ids = Array.from({ length: AT_ONCE }, (_, at) => `${String(round)}-${String(at)}`);
    await things.insertMany(ids.map((_id) => ({ _id, name: _id })));
    const [, deleted] = await Promise.all([
      Promise.all(ids.map((_id) => things.updateOne({ _id }, { $set: { rewritten: round } }))),
      Promise.all(ids.map((_id) => remove(things, _id))),
    ]);
    expect([await things.countDocuments(), deleted.filter((is) => !is)]).toEqual([0, []]);
  }
});

test('of several documents that match, deleteOne deletes one, also in a batch', async () => {
  await using database = await testDatabase();
  const things = database.db.collection<Thing>('things');
  await things.insertMany(['a', 'b', 'c', 'd'].map((_id) => ({ _id, name: 'same' })));
  expect((await things.deleteOne({ name: 'same' })).deletedCount).toBe(1);
  const one = { deleteOne: { filter: { name: 'same' } } };
  expect((await things.bulkWrite([one, one], { ordered: false })).deletedCount).toBe(2);
  expect((await things.deleteOne({ _id: { $in: ['a', 'b', 'c', 'd'] } })).deletedCount).toBe(1);
  expect((await things.deleteOne({ name: 'same' })).deletedCount).toBe(0);
  expect(await things.findOneAndDelete({})).toBeNull();
});

test('a batch of deletes stops at its first error if it is ordered, and says which it was', async () => {
  await using database = await testDatabase();
  const things = database.db.collection<Thing>('things');
  const batch = [
    { deleteOne: { filter: { name: 'first' } } },
    { deleteOne: { filter: { name: { $nothing: 1 } } } },
    { deleteOne: { filter: { name: 'last' } } },
  ] as Parameters<typeof things.bulkWrite>[0];
  for (const ordered of [true, false]) {
    await things.deleteMany({});
    await things.insertMany(['first', 'last'].map((name) => ({ _id: name, name })));
    const error: unknown = await things.bulkWrite(batch, { ordered }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ deletedCount: ordered ? 1 : 2 });
    expect([(error as { writeErrors: unknown }).writeErrors].flat()).toMatchObject([{ index: 1 }]);
    expect(await things.distinct('_id')).toEqual(ordered ? ['last'] : []);
  }
});
