import { MongoClient, type Collection } from 'mongodb';
import { expect, inject, onTestFinished, test } from 'vitest';
import { testDatabase } from '../../../../test/support/engine.ts';

const WRITERS = 4;
const ROUNDS = 60;

interface Thing {
  readonly _id: string;
  readonly writers?: readonly number[];
  readonly taken?: number;
  readonly by?: number;
}

/** The same collection over connections of their own. */
async function writers(): Promise<readonly Collection<Thing>[]> {
  const spare = await testDatabase();
  onTestFinished(() => spare[Symbol.asyncDispose]());
  const clients = await Promise.all(
    Array.from({ length: WRITERS }, () => MongoClient.connect(inject('mongodbUri'))),
  );
  onTestFinished(async () => {
    await Promise.all(clients.map((client) => client.close()));
  });
  return clients.map((client) => client.db(spare.name).collection<Thing>('things'));
}

const isTaken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 11_000;

test('concurrent upserts of one id are all executed, whichever report an insert', async () => {
  const collections = await writers();
  for (let round = 0; round < ROUNDS; round += 1) {
    const _id = String(round);
    const answers = await Promise.all(
      collections.map((things, by) =>
        things.updateOne({ _id }, { $push: { writers: by } }, { upsert: true }),
      ),
    );
    // DocumentDB at times has several of them say so: nobody may count by it.
    expect(answers.filter(({ upsertedCount }) => upsertedCount === 1)).not.toEqual([]);
    expect(answers.map(({ matchedCount, upsertedCount }) => matchedCount + upsertedCount)).toEqual(
      answers.map(() => 1),
    );
    const stored = await collections[0]?.findOne({ _id });
    expect(stored?.writers?.toSorted()).toEqual(collections.map((_, by) => by));
  }
});

test('of concurrent upserts with another condition one wins, and all others learn that they did not', async () => {
  const collections = await writers();
  for (let round = 0; round < ROUNDS; round += 1) {
    const _id = String(round);
    const won = await Promise.all(
      collections.map((things, by) =>
        things
          .updateOne({ _id, taken: 0 }, { $inc: { taken: 1 }, $set: { by } }, { upsert: true })
          .then(({ matchedCount, upsertedCount }) => matchedCount + upsertedCount === 1)
          .catch((error: unknown) => {
            if (isTaken(error)) return false;
            throw error;
          }),
      ),
    );
    const stored = await collections[0]?.findOne({ _id });
    expect(won).toEqual(collections.map((_, by) => by === stored?.by));
  }
});
