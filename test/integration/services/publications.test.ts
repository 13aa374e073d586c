import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { publishAction } from '../../../src/features/publish/publish-action.ts';
import type { Collections } from '../../../src/storage/database/mongo.ts';
import { publicationId } from '../../../src/features/publish/store/publishing.ts';
import { createRepositories } from '../../../src/app/repositories.ts';
import { commandsOf } from '../../support/commands.ts';
import { Crash, crashingCollections } from '../../support/crashing.ts';
import { erase, placesOf } from '../../support/erasure.ts';
import { openParts, type Parts } from '../../support/parts.ts';

const POST = {
  actorId: 'ann',
  idempotencyKey: 'k1',
  descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: 'p' } },
};

/** As another process would, over these collections. */
function publishOver(parts: Parts, collections: Collections): ReturnType<typeof publishAction> {
  return publishAction({ ...parts.core, ...createRepositories(collections) }, parts.service, POST);
}

test('a publication interrupted before its action is completed by the next attempt, under the same id', async () => {
  await using parts = await openParts();
  const { actions, publications } = parts.database.collections;
  await expect(publishOver(parts, crashingCollections(parts.database.collections, 1))).rejects.toThrow(Crash);
  const [fixed] = await publications.find().toArray();
  expect(fixed?._id).toBe(publicationId(POST));
  expect(await actions.countDocuments()).toBe(0);

  const { action, isReplay } = await parts.publish(POST);
  expect([action.id, isReplay]).toEqual([fixed?.actionId.toHexString(), false]);
  expect(await parts.publish(POST)).toEqual({ action, isReplay: true });
  expect([await actions.countDocuments(), await publications.countDocuments()]).toEqual([1, 1]);
});

test('a publication interrupted after its action exists already', async () => {
  await using parts = await openParts();
  await expect(publishOver(parts, crashingCollections(parts.database.collections, 2))).rejects.toThrow(Crash);
  expect((await parts.publish(POST)).isReplay).toBe(true);
  expect(await parts.database.collections.actions.countDocuments()).toBe(1);
});

test('a pass waits if an attempt is completed so late that its id is older than members who joined since', async () => {
  await using parts = await openParts();
  const { actions, publications } = parts.database.collections;
  const old = ObjectId.createFromTime(Math.floor(Date.now() / 1_000) - 3_600);
  await publications.insertOne({ _id: publicationId(POST), actionId: old });
  const { action } = await parts.publish(POST);
  expect(action.id).toBe(old.toHexString());
  const stored = await actions.findOne({ _id: old });
  expect(stored?.fanOut.leaseUntil?.getTime()).toBe(action.recorded.getTime() + 5_000);
  // What is recorded at once is delivered at once.
  const prompt = await parts.publish({ ...POST, idempotencyKey: 'k2' });
  const other = await actions.findOne({ _id: new ObjectId(prompt.action.id) });
  expect(other?.fanOut.leaseUntil).toEqual(prompt.action.recorded);
});

test('keys of one batch, known, new and repeated, each stand for one action', async () => {
  await using parts = await openParts();
  const first = await parts.publish(POST);
  const keys = ['k2', 'k1', 'k2', 'k3'];
  const outcomes = await parts.services.publishActions(
    parts.service,
    keys.map((idempotencyKey) => ({ ...POST, idempotencyKey })),
  );
  expect(outcomes.map(({ isReplay }) => isReplay)).toEqual([false, true, true, false]);
  expect(outcomes[1]?.action?.id).toBe(first.action.id);
  expect(outcomes[2]?.action?.id).toBe(outcomes[0]?.action?.id);
  expect(await parts.database.collections.actions.countDocuments()).toBe(3);
});

test('actor and key are separated, whatever characters they end with', () => {
  const ids = [
    ['a', 'bc'],
    ['ab', 'c'],
    ['a","b', 'c'],
    ['', 'abc'],
  ].map(([actorId = '', idempotencyKey = '']) => publicationId({ actorId, idempotencyKey }));
  expect(new Set(ids).size).toBe(ids.length);
});

test('an erasure leaves no key of the member, and names nobody meanwhile', async () => {
  await using parts = await openParts();
  const { publications } = parts.database.collections;
  await parts.services.upsertMembers(parts.service, [{ memberId: 'member-ann', name: 'Ann' }]);
  await parts.publish({ ...POST, actorId: 'member-ann' });
  await parts.publish({ ...POST, actorId: 'bob' });
  expect(JSON.stringify(await publications.find().toArray())).not.toMatch(/member-ann|k1/);
  await erase(parts, 'member-ann');
  expect(await publications.distinct('_id')).toEqual([publicationId({ ...POST, actorId: 'bob' })]);
  expect(await placesOf(parts.database, 'member-ann')).toEqual([]);
});

test('publications at the same time share their inserts, and each key and each call without one stands for one action', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const { actions, publications } = parts.database.collections;
  const known = await parts.publish({ ...POST, idempotencyKey: 'known' });
  const keys = ['known', 'k0', 'k0', ...Array.from({ length: 18 }, (_, n) => `k${String(n)}`), null, null];
  let published: Awaited<ReturnType<typeof parts.publish>>[] = [];
  const commands = await commandsOf(parts.database, async () => {
    published = await Promise.all(keys.map((idempotencyKey) => parts.publish({ ...POST, idempotencyKey })));
  });
  const idsOf = (key: string | null): Set<string> =>
    new Set(published.flatMap(({ action }, at) => (keys[at] === key ? action.id : [])));
  expect([...idsOf('known')]).toEqual([known.action.id]);
  expect([idsOf('k0').size, idsOf(null).size]).toEqual([1, 2]);
  expect(new Set(published.map(({ action }) => action.id)).size).toBe(21);
  expect(published.filter(({ isReplay }) => isReplay).length).toBe(3);
  expect([await actions.countDocuments(), await publications.countDocuments()]).toEqual([21, 19]);
  // An insert of each collection, and those that repeat a key look for what it stands for.
  expect(commands.filter(({ name }) => name === 'insert').length).toBeLessThanOrEqual(4);
});
