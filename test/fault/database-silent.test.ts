import { expect, inject, test, vi } from 'vitest';
import { startTcpProxy, through, type TcpProxy } from '../integration/realtime/tcp-proxy.ts';
import { isDatabaseUnavailable } from '../../src/storage/database/errors.ts';
import { startTestApp } from '../support/app.ts';
import { ALL_FINE, readiness, tryEverything } from '../support/local-engine.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const WITHIN = { timeout: PATIENCE_MS, interval: 100 };
const NONE_FINE = Object.fromEntries(Object.keys(ALL_FINE).map((name) => [name, 'UNAVAILABLE']));
/** In place of a minute. An answer of a hundred bytes trickles for twenty seconds. */
const LIMITS = { socketTimeoutMS: '1500', waitQueueTimeoutMS: '1500', connectTimeoutMS: '1500' };

test.for<[string, (proxy: TcpProxy) => void]>([
  ['answers nothing', (proxy) => proxy.mute()],
  ['takes nothing', (proxy) => proxy.freeze()],
  ['answers byte by byte', (proxy) => proxy.trickle()],
  ['closes every connection', (proxy) => proxy.cut()],
])('while the database %s, every request ends with UNAVAILABLE; then all goes on', async ([, disturb]) => {
  await using proxy = await startTcpProxy(inject('mongodbUri'));
  const uri = new URL(through(inject('mongodbUri'), proxy));
  for (const [name, value] of Object.entries(LIMITS)) uri.searchParams.set(name, value);
  await using app = await startTestApp({ env: { MONGODB_URI: uri.href } });
  const service = app.identity('service', 'service');
  await app.services.followMany(service, [{ followerId: 'ann', refId: 'author' }]);
  expect(await tryEverything(app)).toEqual(ALL_FINE);
  await app.idle();

  disturb(proxy);
  // On a connection that is open.
  const read = app.app.database.db.collection('members').findOne();
  expect(isDatabaseUnavailable(await read.catch((error: unknown) => error))).toBe(true);
  expect(await tryEverything(app)).toEqual(NONE_FINE);
  // A second time: connections that were lost are not the only ones that wait.
  expect([await tryEverything(app), (await readiness(app)).status]).toEqual([NONE_FINE, 503]);

  proxy.heal();
  await expect
    .poll(async () => [await tryEverything(app), (await readiness(app)).status], WITHIN)
    .toEqual([ALL_FINE, 200]);
  // Workers had lost their connections too.
  const { action } = await app.services.publishAction(service, {
    actorId: 'author',
    descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: 'afterwards' } },
  });
  await app.idle();
  const entries = await app.core.feedStore.find('ann', [action.id]);
  expect(entries.length).toBe(1);
});

test('a query ends after its time, though the database may still answer', async () => {
  await using proxy = await startTcpProxy(inject('mongodbUri'));
  const uri = new URL(through(inject('mongodbUri'), proxy));
  // Nothing else ends it.
  for (const name of ['socketTimeoutMS', 'connectTimeoutMS']) uri.searchParams.set(name, '600000');
  await using app = await startTestApp({ env: { MONGODB_URI: uri.href, READ_TIMEOUT: '1s' } });
  const query = '{ slice(refId: "r") { edges { node { id } } } }';
  expect((await app.query(query, {}, { sub: 'ann' })).errors).toEqual([]);
  proxy.mute();
  const { errors } = await app.query(query, {}, { sub: 'ann' });
  expect(errors).toMatchObject([
    { message: 'The query took longer than 1 s to read', extensions: { code: 'UNAVAILABLE' } },
  ]);
  proxy.cut();
  proxy.heal();
});

test('a mutation ends, saying what is not known, when the database answers nobody; while it answers it is waited for', async () => {
  await using proxy = await startTcpProxy(inject('mongodbUri'));
  const uri = new URL(through(inject('mongodbUri'), proxy));
  // Connections are there and accepted: nothing else ends it.
  for (const name of ['socketTimeoutMS', 'connectTimeoutMS']) uri.searchParams.set(name, '600000');
  await using app = await startTestApp({
    env: { MONGODB_URI: uri.href, READ_TIMEOUT: '1s' },
    worker: false,
  });
  const mute = (): ReturnType<typeof app.query> =>
    app.query('mutation { addMute(target: { refId: "r" }) { __typename } }', {}, { sub: 'ann' });
  const { feedMutes } = app.core;
  const addMute = feedMutes.addMute.bind(feedMutes);
  // It takes until the database has been asked twice whether it still answers.
  const checked = new Promise<void>((resolve) => {
    const { writes } = app.app.database;
    const check = writes.check.bind(writes);
    let times = 0;
    vi.spyOn(writes, 'check').mockImplementation(async () => {
      await check();
      if ((times += 1) === 2) resolve();
    });
  });
  vi.spyOn(feedMutes, 'addMute').mockImplementationOnce(async (...given) => {
    await checked;
    return addMute(...given);
  });
  expect((await mute()).errors).toEqual([]);
  proxy.mute();
  expect((await mute()).errors).toMatchObject([
    { message: expect.stringContaining('not known') as string, extensions: { code: 'UNAVAILABLE' } },
  ]);
  proxy.cut();
  proxy.heal();
});

/** Without settings of its own; before, they took forty. */
const ENDS_WITHIN_MS = 15_000;

test('a database that answers nothing is noticed soon, and again when it answers', async () => {
  await using proxy = await startTcpProxy(inject('mongodbUri'));
  await using app = await startTestApp({
    env: { MONGODB_URI: through(inject('mongodbUri'), proxy) },
    worker: false,
  });
  expect(await tryEverything(app)).toEqual(ALL_FINE);
  proxy.mute();
  const took: Record<string, number> = {};
  const timed = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    const from = performance.now();
    const result = await work();
    took[what] = Math.round(performance.now() - from);
    return result;
  };
  const [tried] = await Promise.all([
    timed('requests', () => tryEverything(app)),
    timed('ready', () => expect.poll(async () => (await readiness(app)).status, WITHIN).toBe(503)),
  ]);
  expect(tried).toEqual(NONE_FINE);
  proxy.heal();
  await timed('recovery', () => expect.poll(() => tryEverything(app), WITHIN).toEqual(ALL_FINE));
  console.log('Milliseconds:', took);
  expect(took['requests']).toBeLessThan(ENDS_WITHIN_MS);
});
