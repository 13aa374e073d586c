import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import type { InteractionKind } from '../../../src/domain/relevancy.ts';
import { interactionKeys } from '../../../src/storage/migrations/interaction-keys.ts';
import type { MigrationBatch } from '../../../src/storage/migrations/migration.ts';
import type { Collections } from '../../../src/storage/database/mongo.ts';
import { Crash, crashingCollections } from '../../support/crashing.ts';
import { openParts, type Parts } from '../../support/parts.ts';

const at = new Date('2026-01-01T00:00:00Z');

/** As they were recorded before keys had kinds: the key `[actor]` of a like, `[actor, key]` of anything, or a random one. */
async function recordOld(
  parts: Parts,
  actionId: string,
  given: readonly (readonly [kind: InteractionKind, actorId: string, key: string])[],
): Promise<void> {
  await parts.database.collections.interactions.insertMany(
    given.map(([kind, actorId, key]) => ({
      _id: new ObjectId(),
      actionId: new ObjectId(actionId),
      ...{ kind, actorId, key, departmentIds: [], at },
    })),
  );
  const { actions, interactions } = parts.repositories;
  const summary = (await interactions.summaries([actionId])).get(actionId);
  if (summary === undefined) throw new Error('Nothing was recorded');
  const change = { kind: 'derived', engagement: summary.engagement } as const;
  await actions.markInteraction(actionId, { change, boost: at, now: new Date() });
}

const OLD = [
  ['LIKE', 'ann', '["ann"]'],
  ['LIKE', 'ann', '["ann","k1"]'],
  // Its key is what the like's is to be.
  ['COMMENT', 'bob', '["bob","LIKE"]'],
  ['LIKE', 'bob', '["bob"]'],
  ['COMMENT', 'ann', '["ann","k2"]'],
  ['RESHARE', 'cid', 'a'.repeat(24)],
  ['RESHARE', 'cid', 'b'.repeat(24)],
  ['COMMENT', 'cid', 'c'.repeat(24)],
] as const;

/** How many were looked at in each batch. */
async function bring(collections: Collections): Promise<number[]> {
  const looked: number[] = [];
  let after: string | null = null;
  do {
    const batch: MigrationBatch = await interactionKeys.batch(collections, after, 3);
    looked.push(batch.looked);
    after = batch.after;
  } while (after !== null);
  return looked;
}

/** What the records come to, by whatever way. */
async function stateOf(parts: Parts, actionId: string): Promise<unknown> {
  const all = await parts.database.collections.interactions.find().sort({ _id: 1 }).toArray();
  const summary = (await parts.repositories.interactions.summaries([actionId])).get(actionId);
  return {
    engagement: summary?.engagement,
    lifts: summary?.latest,
    records: all.map(({ kind, actorId, key, state, replayKeys }) => ({
      ...{ kind, actorId, state },
      key: key.startsWith('[') ? key : 'random',
      replayKeys: [...(replayKeys ?? [])].sort(),
    })),
  };
}

test('brings old keys over: repetitions are recognised, one like of each member counts', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({ scope: 'PUBLIC' });
  await recordOld(parts, action.id, OLD);
  expect(await bring(parts.database.collections)).toEqual([3, 3, 2]);
  expect(await bring(parts.database.collections)).toEqual([3, 3, 2]);
  const like = (userId: string, idempotencyKey?: string) =>
    parts.services.addInteraction(parts.session(userId), {
      ...{ actionId: action.id, kind: 'LIKE', idempotencyKey },
    });
  const { interactions } = parts.repositories;
  expect((await interactions.summaries([action.id])).get(action.id)?.engagement).toMatchObject({
    ...{ comments: 3, likes: 2, reshares: 1, lastInteraction: at },
  });
  for (const [userId, key] of [['ann'], ['ann', 'k1'], ['bob']] as const)
    expect(await like(userId, key)).toMatchObject({ isReplay: true });
  const comment = (userId: string, idempotencyKey: string) =>
    parts.services.addInteraction(parts.session(userId), {
      ...{ actionId: action.id, kind: 'COMMENT', idempotencyKey },
    });
  expect(await comment('ann', 'k2')).toMatchObject({ isReplay: true });
  expect(await comment('bob', 'LIKE')).toMatchObject({ isReplay: true });
  await parts.services.removeInteraction(parts.session('ann'), {
    own: { actionId: action.id, kind: 'LIKE' },
  });
  expect(await like('ann', 'k1')).toMatchObject({ isReplay: true, interaction: { state: 'REMOVED' } });
  await parts.fanOut();
  const [counted] = await parts.repositories.actions.findByIds([action.id]);
  expect(counted?.engagement).toMatchObject({ comments: 3, likes: 1, reshares: 1 });
});

test('cut off after any write and begun again it comes to the same', async () => {
  await using whole = await openParts();
  const { action: expected } = await whole.publish({ scope: 'PUBLIC' });
  await recordOld(whole, expected.id, OLD);
  await bring(whole.database.collections);
  for (let writes = 1; writes <= OLD.length; writes += 1) {
    await using parts = await openParts();
    const { action } = await parts.publish({ scope: 'PUBLIC' });
    await recordOld(parts, action.id, OLD);
    await expect(bring(crashingCollections(parts.database.collections, writes))).rejects.toThrow(Crash);
    await bring(parts.database.collections);
    expect(await stateOf(parts, action.id)).toEqual(await stateOf(whole, expected.id));
  }
});
