import { expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { letExpire } from '../support/expire.ts';
import { ask, feedOf, inAnHour, publish, rawId, upsert } from '../support/feed-api.ts';
import { watchFeed, type FeedWatcher } from '../support/live-clients.ts';
import { letMuteEnd } from '../support/mute-ends.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { startFanfare, type FanfareProcess } from '../support/processes.ts';
import { endSnoozeAt } from '../support/snoozes.ts';

// A server, the only one with workers, is killed while a snooze, a publication and a mute have an end to come. An API in
// the process of the test stays for the reader, and reads and watches by it.

const READER = { sub: 'ann' } as const;
/** By then a server has started on a machine that is not busy; on one that is, the time comes before, which is as good. */
const SOON_MS = 8_000;

async function startServer({ env }: TestApp): Promise<FanfareProcess> {
  const server = startFanfare(['serve'], { ...env, PORT: '0' });
  await server.logged(({ msg }) => msg === 'Listening');
  return server;
}

const shown = async (app: TestApp): Promise<string[]> =>
  (await feedOf(app, READER.sub)).map(({ action }) => action.id).sort();

/** What the reader is notified of, until all of it has come; with when each came. */
async function notices(watcher: FeedWatcher, wanted: ReadonlySet<string>): Promise<Map<string, number>> {
  const seen = new Map<string, number>();
  while ([...wanted].some((notice) => !seen.has(notice))) {
    const event = await watcher.next();
    const notice =
      event.__typename === 'FeedItemAdded'
        ? `added ${event.item.action.id}`
        : event.__typename === 'FeedItemRemoved'
          ? `removed ${event.actionId}`
          : event.__typename === 'FeedResync'
            ? `resync for ${event.reason}`
            : event.__typename;
    if (!seen.has(notice)) seen.set(notice, Date.now());
  }
  return seen;
}

test.each([
  ['while it is away', -1_000],
  ['after it has come back', SOON_MS],
])('a snooze, a publication and a mute that end %s, of a server that was killed, end', async (_when, in_) => {
  await using app = await startTestApp({ worker: false });
  await using killed = await startServer(app);
  await upsert(app, {
    pairs: ['actor', 'quiet'].map((refId) => ({ followerId: READER.sub, refId })),
  });
  const [snoozed, expiring, kept] = [await publish(app), await publish(app), await publish(app)];
  const muted = await publish(app, { actorId: 'quiet' });
  const all = [snoozed, expiring, kept, muted].sort();
  await expect.poll(() => shown(app), { timeout: PATIENCE_MS }).toEqual(all);
  const until = inAnHour();
  await ask(
    app,
    `mutation ($snoozed: ID!, $until: DateTime!) {
      snoozeFeedItem(actionId: $snoozed, until: $until) { actionId }
      addMute(target: { refId: "quiet" }, until: $until) { mutes { until } }
    }`,
    { snoozed, until },
    READER,
  );
  await ask(
    app,
    `mutation ($id: ID!, $until: DateTime!) {
      updateAction(id: $id, input: { expiresAt: $until }) { expiresAt }
    }`,
    { id: expiring, until },
  );
  expect(await shown(app)).toEqual([expiring, kept].sort());
  killed.kill('SIGKILL');
  expect(await killed.exited()).toBeNull();

  await using watcher = await watchFeed('WebSocket', app, READER.sub);
  const at = new Date(Date.now() + in_);
  await endSnoozeAt(app.app, READER.sub, rawId(snoozed), at);
  await letExpire(app.app, rawId(expiring), at);
  await letMuteEnd(app.app, READER.sub, { kind: 'REF', value: 'quiet' }, at);
  const ended = [snoozed, kept, muted].sort();
  // What is read goes by the clock, whether there are workers or not.
  if (in_ < 0) expect(await shown(app)).toEqual(ended);
  await using again = await startServer(app);
  const seen = await notices(
    watcher,
    new Set([`added ${snoozed}`, `removed ${expiring}`, 'resync for mutes']),
  );
  for (const [notice, time] of seen)
    if (/added|removed|mutes/.test(notice)) expect([notice, time >= at.getTime()]).toEqual([notice, true]);
  expect(await shown(app)).toEqual(ended);
  again.kill('SIGTERM');
  expect(await again.exited()).toBe(0);
});
