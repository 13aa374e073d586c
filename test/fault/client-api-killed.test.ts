import { afterAll, beforeAll, expect, test } from 'vitest';
import { Closer } from '../../src/lib/closer.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { openClientScene } from '../support/client-scene.ts';
import { CLIENT_TRANSPORTS, clientOf, isLive, startWatch } from '../support/client-watches.ts';
import { feedOf } from '../support/feed-api.ts';
import { startFanfare, type FanfareProcess } from '../support/processes.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(async () => app[Symbol.asyncDispose]());

async function serve(crowd: Closer): Promise<{ process: FanfareProcess; port: number }> {
  const process = crowd.own(startFanfare(['serve', '--no-worker'], { ...app.env, PORT: '0' }));
  const line = await process.logged((entry) => typeof entry['url'] === 'string');
  return { process, port: Number(new URL(String(line['url'])).port) };
}

test.each(['SIGKILL', 'SIGTERM'] as const)(
  'an API process that ends by %s costs no event',
  async (signal) => {
    await using crowd = new Closer();
    const [first, second] = await Promise.all([serve(crowd), serve(crowd)]);
    let { port } = first;
    const { reader, url, publishMany } = await openClientScene(app, crowd, () => port);
    const watches = await Promise.all(
      CLIENT_TRANSPORTS.map(async (transport) =>
        crowd.own(startWatch(await clientOf({ ...app, url }, reader, { transport }))),
      ),
    );
    for (const watch of watches) await watch.until(isLive);
    const published = await publishMany(2);
    first.process.kill(signal);
    published.push(...(await publishMany(2)));
    await first.process.exited();
    ({ port } = second);
    published.push(...(await publishMany(1)));
    for (const watch of watches) {
      await watch.until(({ events }) => events.length >= published.length);
      expect(watch.added()).toEqual(published);
      expect(watch.resyncs).toEqual(['opened']);
    }
    expect((await feedOf(app, reader)).map(({ action }) => action.id)).toEqual(published.toReversed());
  },
);
