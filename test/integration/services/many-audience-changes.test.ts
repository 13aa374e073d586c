import { expect, test } from 'vitest';
import { idsOf } from '../../conformance/feed-tools.ts';
import { openLiveList, type LiveList } from '../../support/live-list.ts';
import { openParts, type Parts } from '../../support/parts.ts';

/** More changes of an audience than are kept one by one until a pass follows them. */
const MANY = 14;
const BIG = { id: 'big', type: 'site', label: 'Big' };

/** Nothing is stored for who follows the ref: it is pulled. */
async function openScene(): Promise<Parts> {
  const parts = await openParts({ pullRefreshMs: -1 });
  await parts.database.collections.refs.insertOne({
    ...{ _id: BIG.id, version: 0, followerCount: 0, isPulled: true, pullSince: new Date(0) },
  });
  return parts;
}

function notified({ events }: LiveList): string[] {
  return events.map((event) => event.kind);
}

test('a reader who lost an action by the first of many edits receives its removal, though nothing of it was stored', async () => {
  await using parts = await openScene();
  const { services, session } = parts;
  await services.follow(session('ann'), BIG.id, 0);
  const { action } = await parts.publish({ refs: [BIG] });
  await parts.fanOut();
  await using ann = await openLiveList(parts, session('ann').identity);
  await using bob = await openLiveList(parts, session('bob').identity);
  expect([...ann.shown.keys()]).toEqual([action.id]);
  await services.updateAction(session('actor'), action.id, { refs: [] });
  for (let n = 0; n < MANY; n++)
    await services.updateAction(session('actor'), action.id, { mentions: [`named${String(n)}`] });
  await parts.fanOut();
  for (const list of [ann, bob]) await list.caughtUp();
  expect(notified(ann)).toEqual(['removed', 'removed']);
  expect([...ann.shown.keys()]).toEqual([]);
  // It was never theirs: they are sent nothing but what `caughtUp` sends.
  expect(notified(bob)).toEqual(['removed']);
});

test('a reader who had an action by a reshare receives its removal, whatever was reshared and removed since', async () => {
  await using parts = await openParts({ model: 'pull' });
  const { services, session } = parts;
  await services.follow(session('ann'), 'first', 0);
  const { action } = await parts.publish({ scope: 'PUBLIC' });
  const passers = ['first', ...Array.from({ length: MANY }, (_, n) => `passer${String(n)}`)];
  for (const passer of passers)
    await services.addInteraction(session(passer), { actionId: action.id, kind: 'RESHARE' });
  await parts.fanOut();
  await using ann = await openLiveList(parts, session('ann').identity);
  expect([...ann.shown.keys()]).toEqual([action.id]);
  for (const passer of passers)
    await services.removeInteraction(session(passer), {
      own: { actionId: action.id, kind: 'RESHARE' },
    });
  await parts.fanOut();
  await ann.caughtUp();
  expect(notified(ann)).toEqual(['removed', 'removed']);
  expect([...ann.shown.keys()]).toEqual([]);
});

test('repeated removals are stored once', async () => {
  await using parts = await openParts();
  const { services, session } = parts;
  const { action } = await parts.publish({ scope: 'PUBLIC' });
  const reshare = { actionId: action.id, kind: 'RESHARE' } as const;
  for (let n = 0; n < 2 * MANY; n++) {
    await services.addInteraction(session('ann'), reshare);
    await services.removeInteraction(session('ann'), { own: reshare });
  }
  const kept = await parts.database.collections.actions.findOne({}, { projection: { 'fanOut.former': 1 } });
  expect(kept?.fanOut.former?.length).toBeLessThan(MANY);
  expect(new Set(kept?.fanOut.former?.map(({ reshares }) => reshares?.length))).toEqual(new Set([1]));
});

test('if too many were named to store them all, every watcher who may have lost the action reads again', async () => {
  await using parts = await openScene();
  const { services, session } = parts;
  await services.follow(session('ann'), BIG.id, 0);
  const { action } = await parts.publish({ refs: [BIG] });
  await parts.fanOut();
  await using ann = await openLiveList(parts, session('ann').identity);
  await using dan = await openLiveList(parts, session('dan').identity);
  expect([...ann.shown.keys()]).toEqual([action.id]);
  await services.updateAction(session('actor'), action.id, { refs: [] });
  for (let n = 0; n < 12; n++)
    await services.updateAction(session('actor'), action.id, {
      mentions: ['dan', ...Array.from({ length: 999 }, (_, m) => `m${String(n * 1_000 + m)}`)],
    });
  await parts.fanOut();
  for (const list of [ann, dan]) await list.caughtUp();
  expect(ann.resyncs).toEqual(['membership']);
  expect([...ann.shown.keys()]).toEqual([]);
  expect(dan.resyncs).toEqual([]);
  expect([...dan.shown.keys()]).toEqual([action.id]);
  expect(await idsOf(parts, 'dan')).toEqual([action.id]);
  // Of the next edit everybody is known again.
  await services.updateAction(session('actor'), action.id, { mentions: [] });
  await parts.fanOut();
  for (const list of [ann, dan]) await list.caughtUp();
  expect(ann.resyncs).toHaveLength(1);
  expect(dan.resyncs).toEqual([]);
  expect([...dan.shown.keys()]).toEqual([]);
});
