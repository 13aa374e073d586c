import { expect, inject, test } from 'vitest';
import { upkeep } from '../../src/features/upkeep/jobs/upkeep.ts';
import { encodeNewsfeedItemId } from '../../src/graphql/global-id.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { clientOf } from '../support/client-watches.ts';
import { runnerOf } from '../support/jobs.ts';
import { openMirror } from '../support/mirror.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { openShared } from '../support/spare-databases.ts';
import { startTcpProxy, through } from '../integration/realtime/tcp-proxy.ts';

const WAIT = { timeout: PATIENCE_MS, interval: 50 };
const HOUR_MS = 3_600_000;

/** Looks, so much later, for what processes that have ended left unannounced. */
const lookIn = ({ core }: TestApp, laterMs: number): Promise<unknown> =>
  runnerOf(upkeep, core).round(new Date(Date.now() + laterMs));

test('what a process could not announce before it ended is announced by another', async () => {
  await using app = await startTestApp({ worker: false });
  const reader = app.identity('reader').userId;
  await app.services.follow(app.session(reader), 'actor', 0);
  await using worker = await startTestApp({ database: app.database, api: false });
  const { action } = await app.services.publishAction(app.identity('importer', 'service'), {
    actorId: 'actor',
    descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: 'p' } },
  });
  await worker.idle();
  await using mirror = openMirror(await clientOf(app, reader), reader, { unread: false });
  await expect.poll(() => mirror.shown.size, WAIT).toBe(1);
  await using wire = await startTcpProxy(inject('redisUrl'));
  const REDIS_URL = through(inject('redisUrl'), wire);
  const cut = await startTestApp({ database: app.database, api: false, worker: false, env: { REDIS_URL } });
  wire.cut();
  await cut.services.hideFeedItem(cut.session(reader), action.id);
  await cut[Symbol.asyncDispose]();
  await using shared = await openShared(app.database);
  const left = () => shared.collections.processes.countDocuments({ gapAt: { $exists: true } });
  expect(await left()).toBe(1);
  // It may still be running.
  await lookIn(app, 0);
  expect(await left()).toBe(1);
  expect(mirror.shown.has(encodeNewsfeedItemId(reader, action.id))).toBe(true);
  await lookIn(app, HOUR_MS);
  expect(await left()).toBe(0);
  await expect.poll(() => mirror.shown.size, WAIT).toBe(0);
});

test('a process that has announced what was missing leaves nothing to others', async () => {
  await using app = await startTestApp({ worker: false });
  await using wire = await startTcpProxy(inject('redisUrl'));
  const REDIS_URL = through(inject('redisUrl'), wire);
  const cut = await startTestApp({ database: app.database, api: false, worker: false, env: { REDIS_URL } });
  wire.cut();
  await cut.services.markFeedRead(cut.session('reader'), new Date());
  wire.heal();
  await expect
    .poll(
      () =>
        cut.core.liveLog.check().then(
          () => true,
          () => false,
        ),
      WAIT,
    )
    .toBe(true);
  await cut[Symbol.asyncDispose]();
  await using shared = await openShared(app.database);
  expect(await shared.collections.processes.countDocuments({ gapAt: { $exists: true } })).toBe(0);
});
