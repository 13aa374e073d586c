import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { startFanfare, type FanfareProcess } from '../support/processes.ts';
import { IS_DEEP } from '../support/seed.ts';
import { chunksOf } from '../support/trace.ts';

const FOLLOWERS = IS_DEEP ? 5_000 : 1_000;
const TRIES = 20;

async function startWorker(
  env: Readonly<Record<string, string>>,
): Promise<{ process: FanfareProcess; id: string }> {
  const process = startFanfare(['worker'], env);
  const line = await process.logged((entry) => entry['msg'] === 'Fan-out worker started');
  return { process, id: String(line['worker']) };
}

/** Publishes until a fan-out is seen in its midst: one may be over before anybody has looked. */
async function fanOutAt(app: TestApp, delivered: number): Promise<{ _id: ObjectId; holder: string }> {
  const { actions } = app.app.database.collections;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const { action } = await app.services.publishAction(app.identity('service', 'service'), {
      actorId: 'actor',
      descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: String(delivered) } },
    });
    const _id = new ObjectId(action.id);
    for (;;) {
      const document = await actions.findOne({ _id });
      if (document === null || document.fanOut.state === 'DONE') break;
      if (document.fanOut.delivered >= delivered && document.fanOut.worker !== undefined)
        return { _id, holder: document.fanOut.worker };
    }
  }
  throw new Error('Every fan-out was over before it could be caught');
}

test('loses and repeats nothing if a worker is killed in the middle of a fan-out', async () => {
  await using app = await startTestApp({
    worker: false,
    api: false,
    env: { FAN_OUT_CHUNK: String(FOLLOWERS / 50), FAN_OUT_LEASE: '1s', POLL_INTERVAL: '100ms' },
  });
  const service = app.identity('service', 'service');
  const followers = Array.from({ length: FOLLOWERS }, (_, n) => `f${String(n).padStart(4, '0')}`);
  for (const some of chunksOf(followers, 1_000))
    await app.services.followMany(
      service,
      some.map((followerId) => ({ followerId, refId: 'actor' })),
    );
  const { actions } = app.app.database.collections;
  const newsfeedItems = app.app.database.db.collection('newsfeedItems');

  let first = await startWorker(app.env);
  let second = await startWorker(app.env);
  try {
    for (const killAfter of [0.02, 0.4, 0.9].map((share) => share * FOLLOWERS)) {
      const { _id, holder } = await fanOutAt(app, killAfter);
      const [killed, survivor] = holder.startsWith(first.id) ? [first, second] : [second, first];
      killed.process.kill('SIGKILL');
      expect(await killed.process.exited()).toBeNull();
      await app.idle();

      const done = await actions.findOne({ _id });
      expect(done?.fanOut).toMatchObject({ state: 'DONE', delivered: FOLLOWERS });
      // One more for each lease that a busy machine lets pass.
      expect(done?.fanOut.attempts).toBeGreaterThanOrEqual(2);
      const holders = await newsfeedItems
        .find({ actionId: _id })
        .project<{ userId: string }>({ userId: 1 })
        .toArray();
      expect(holders.map((item) => item.userId).sort()).toEqual(followers);
      first = survivor;
      second = await startWorker(app.env);
    }
  } finally {
    await first.process[Symbol.asyncDispose]();
    await second.process[Symbol.asyncDispose]();
  }
});

test('a worker releases its work on SIGTERM and exits with 0, and another one completes it', async () => {
  await using app = await startTestApp({
    worker: false,
    api: false,
    env: { FAN_OUT_CHUNK: String(FOLLOWERS / 50), FAN_OUT_LEASE: '60s', POLL_INTERVAL: '100ms' },
  });
  const service = app.identity('service', 'service');
  const followers = Array.from({ length: FOLLOWERS }, (_, n) => `f${String(n).padStart(4, '0')}`);
  for (const some of chunksOf(followers, 1_000))
    await app.services.followMany(
      service,
      some.map((followerId) => ({ followerId, refId: 'actor' })),
    );
  const { actions } = app.app.database.collections;
  const newsfeedItems = app.app.database.db.collection('newsfeedItems');
  const leaving = await startWorker(app.env);
  await using process = leaving.process;
  const { _id } = await fanOutAt(app, 1);
  process.kill('SIGTERM');
  expect(await process.exited()).toBe(0);
  const handed = await actions.findOne({ _id });
  expect(handed?.fanOut.state).toBe('PENDING');
  expect(handed?.fanOut.delivered).toBeLessThan(FOLLOWERS);
  // The lease was a minute long: only because it was handed back is it taken at once.
  const next = await startWorker(app.env);
  await using _next = next.process;
  await app.idle();
  expect((await actions.findOne({ _id }))?.fanOut).toMatchObject({
    state: 'DONE',
    delivered: FOLLOWERS,
    attempts: 1,
  });
  expect(await newsfeedItems.countDocuments({ actionId: _id })).toBe(FOLLOWERS);
});
