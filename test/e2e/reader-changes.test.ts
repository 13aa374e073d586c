import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createFeedClient } from '@fanfare/client';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask, publish } from '../support/feed-api.ts';
import { openSetting } from '../support/frontends/screen.ts';
import { uniqueName } from '../support/unique-name.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(async () => app[Symbol.asyncDispose]());

/** Two readers with something that nobody else may see, and a token function that answers for the one that `of` names. */
async function openTwo() {
  const [ann, ben] = [uniqueName('ann'), uniqueName('ben')];
  const at = (reader: string) =>
    publish(app, { actorId: uniqueName('actor'), scope: 'RESTRICTED', recipients: [reader] });
  await at(ann);
  await at(ben);
  await app.idle();
  const who = { is: ann };
  const setting = { ...openSetting(app, ann), getToken: () => app.token(who.is) };
  return { ann, ben, who, setting };
}

test('every answer and the acknowledgement of a socket say whose they are', async () => {
  const { who, setting, ben } = await openTwo();
  const client = createFeedClient({ url: setting.url, token: setting.getToken, webSocket: WebSocket });
  await client.feed();
  const { reader } = client;
  const ended = { code: 'READER_CHANGED', isTemporary: false };
  const watched = expect(
    client.watch({ onEvent: () => undefined, onResync: () => undefined }),
  ).rejects.toMatchObject(ended);
  who.is = ben;
  await expect(client.feed()).rejects.toMatchObject(ended);
  await watched;
  expect(reader.aborted).toBe(true);
  expect((await client.feed()).edges).toHaveLength(1);
  client.close();
  await expect(client.feed()).rejects.toMatchObject({ code: 'CLOSED' });
  await expect(client.mutations.bookmark({ actionId: 'any' })).rejects.toMatchObject({ code: 'CLOSED' });
});

test('a socket for another reader ends what was watched, over both transports', async () => {
  for (const transport of ['websocket', 'sse'] as const) {
    const { who, setting, ben } = await openTwo();
    const client = createFeedClient({
      url: setting.url,
      token: setting.getToken,
      transport,
      webSocket: WebSocket,
    });
    await client.feed();
    who.is = ben;
    const events: string[] = [];
    const watched = client.watch({
      onEvent: ({ __typename }) => void events.push(__typename),
      onResync: (reason) => void events.push(reason),
    });
    await expect(watched, transport).rejects.toMatchObject({ code: 'READER_CHANGED' });
    expect(events).toEqual([]);
    client.close();
  }
});

test('nothing is done in the name of the next reader', async () => {
  const { ann, ben, who, setting } = await openTwo();
  const actionId = await publish(app, { actorId: uniqueName('actor'), scope: 'PUBLIC' });
  const own = { actionId, kind: 'LIKE' } as const;
  const client = createFeedClient({ url: setting.url, token: setting.getToken, webSocket: WebSocket });
  const changed = { code: 'READER_CHANGED' };
  await client.feed();
  // While the first is under way, the second waits for its turn.
  const first = client.mutations.addInteraction({ input: own });
  const second = client.mutations.addInteraction({ input: { actionId, kind: 'COMMENT', text: 'By Ann' } });
  who.is = ben;
  const [liked, commented] = await Promise.allSettled([first, second]);
  expect(liked).toMatchObject({ status: 'fulfilled' });
  expect(commented).toMatchObject({ status: 'rejected', reason: changed });
  // From then on the client is of Ben.
  await client.feed();
  who.is = ann;
  await expect(client.mutations.bookmark({ actionId })).rejects.toMatchObject(changed);
  const { action } = await ask<{ readonly action: object | null }>(
    app,
    'query ($id: ID!) { action(id: $id) { engagement { likes comments } viewer { isBookmarked } } }',
    { id: actionId },
    { sub: ann },
  );
  expect(action).toEqual({ engagement: { likes: 1, comments: 0 }, viewer: { isBookmarked: false } });
  client.close();
});
