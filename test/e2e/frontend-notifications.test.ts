import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTcpProxy } from '../integration/realtime/tcp-proxy.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask, publish } from '../support/feed-api.ts';
import { BELLS } from '../support/frontends/bells.ts';
import { openSetting } from '../support/frontends/screen.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { uniqueName } from '../support/unique-name.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(async () => app[Symbol.asyncDispose]());

const WAIT = { timeout: PATIENCE_MS };
const INTERACT = (
  name: string,
): string => `mutation ($input: ${name === 'addInteraction' ? 'Record' : 'Remove'}InteractionInput!) {
  ${name}(input: $input) { isReplay } }`;

test.each(BELLS)(
  '%s shows notifications beside the feed: they come, change, go and are seen, and a cut socket loses none',
  async (_name, open) => {
    const reader = uniqueName('reader');
    const [post, next] = [
      await publish(app, { actorId: reader, scope: 'PUBLIC' }),
      await publish(app, { actorId: reader, scope: 'PUBLIC' }),
    ] as const;
    await app.idle();
    const like = (sub: string, actionId: string): Promise<unknown> =>
      ask(app, INTERACT('addInteraction'), { input: { actionId, kind: 'LIKE' } }, { sub });
    const unlike = (sub: string, actionId: string): Promise<unknown> =>
      ask(app, INTERACT('removeInteraction'), { input: { own: { actionId, kind: 'LIKE' } } }, { sub });
    await like('ann', post);
    await using wire = await startTcpProxy(() => app.app.http?.port ?? 0);
    const wsUrl = app.wsUrl.replace(/:\d+/, `:${String(wire.port)}`);
    await using bell = await open(openSetting(app, reader, { wsUrl }));
    const shows = (...expected: ReturnType<typeof bell.shown>) =>
      expect.poll(() => bell.shown(), WAIT).toEqual(expected);
    await shows(['ann liked your post'], 1);
    await like('bea', post);
    await shows(['bea and ann liked your post'], 1);
    await like('cid', next);
    await shows(['cid liked your post', 'bea and ann liked your post'], 2);
    await bell.markSeen();
    await shows(['cid liked your post', 'bea and ann liked your post'], 0);
    wire.cut();
    await unlike('cid', next);
    await like('dan', post);
    wire.heal();
    await shows(['dan, bea, and ann liked your post'], 1);
  },
);
