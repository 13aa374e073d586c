import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { revised } from '../../src/storage/stages/revision.ts';
import { startTestApp } from '../support/app.ts';
import { startFanfare } from '../support/processes.ts';
import { IS_DEEP } from '../support/seed.ts';

const ACTORS = 10;
/** As many as one member can have. */
const OF_EACH = IS_DEEP ? 1_000 : 200;

test('what is due in one second is published in order of time and once, whenever workers are killed', async () => {
  await using app = await startTestApp({
    worker: false,
    api: false,
    env: {
      ...{ EVENT_RETENTION: '1d', FAN_OUT_LEASE: '1s', POLL_INTERVAL: '100ms' },
      // Otherwise the oldest may have left the stored feed by the time it is looked at.
      FEED_CAP: String(ACTORS * OF_EACH),
    },
  });
  const service = app.identity('service', 'service');
  const actors = Array.from({ length: ACTORS }, (_, n) => `actor${String(n)}`);
  await app.services.followMany(
    service,
    actors.map((refId) => ({ followerId: 'fan', refId })),
  );
  const later = new Date(Date.now() + 3_600_000);
  const ids: string[] = [];
  for (const actorId of actors)
    for (let made = 0; made < OF_EACH; made += 100) {
      const outcomes = await app.services.publishActions(
        service,
        Array.from({ length: 100 }, (_, n) => ({
          ...{ actorId, publishAt: later },
          descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: String(made + n) } },
        })),
      );
      ids.push(...outcomes.flatMap(({ action }) => action?.id ?? []));
    }
  expect(ids).toHaveLength(ACTORS * OF_EACH);
  const { actions } = app.app.database.collections;
  const hostEvents = app.app.database.db.collection<{
    seq: number;
    type: string;
    facts: { actionId: string };
  }>('hostEvents');
  // The second that has just passed.
  const from = Date.now() - 1_000;
  const times = new Map(
    ids.map((id, n) => [id, new Date(from + Math.floor((((n * 7_919) % ids.length) / ids.length) * 1_000))]),
  );
  await actions.bulkWrite(
    Array.from(times, ([id, publishAt]) => ({
      updateOne: { filter: { _id: new ObjectId(id) }, update: revised({ $set: { publishAt } }) },
    })),
    { ordered: false },
  );
  const start = async () => {
    const worker = startFanfare(['worker'], app.env);
    await worker.logged(({ msg }) => msg === 'Fan-out worker started');
    return worker;
  };
  const isLeft = async (count: number): Promise<boolean> =>
    (await actions.countDocuments({ publishAt: { $exists: true } })) > count;
  let [first, second] = await Promise.all([start(), start()]);
  try {
    for (const share of [0.8, 0.5, 0.2]) {
      while (await isLeft(share * ids.length));
      first.kill('SIGKILL');
      expect(await first.exited()).toBeNull();
      [first, second] = [second, await start()];
    }
    while (await isLeft(0));
    await app.idle();
    const published = hostEvents.find({ type: 'action.published' }).sort({ seq: 1 });
    await expect.poll(() => hostEvents.countDocuments({ type: 'action.published' })).toBe(ids.length);
    const named = (await published.toArray()).map(({ facts }) => facts.actionId);
    expect([...named].sort()).toEqual([...ids].sort());
    const order = named.map((id) => times.get(id)?.getTime() ?? 0);
    expect(order).toEqual([...order].sort((a, b) => a - b));
  } finally {
    await Promise.all([first, second].map((one) => one[Symbol.asyncDispose]()));
  }
  const entries = await app.app.database.db.collection('newsfeedItems').find({ userId: 'fan' }).toArray();
  expect(entries.map(({ actionId }) => String(actionId)).sort()).toEqual([...ids].sort());
  expect(
    entries.every(
      ({ actionId, relevancy }) => (relevancy as Date).getTime() === times.get(String(actionId))?.getTime(),
    ),
  ).toBe(true);
});
