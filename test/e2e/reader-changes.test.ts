import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createFeedClient } from '@fanfare/client';
import { startTestApp, type TestApp } from '../support/app.ts';
import { publish } from '../support/feed-api.ts';
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
  const [anns] = [await at(ann), await at(ben)];
  await app.idle();
  const who = { is: ann };
  const setting = { ...openSetting(app, ann), getToken: () => app.token(who.is) };
  return { ben, anns, who, setting };
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

test('a deed that waits for its turn is not done in the name of the next reader', async () => {
  const { who, setting, ben, anns } = await openTwo();
  const client = createFeedClient({ url: setting.url, token: setting.getToken, webSocket: WebSocket });
  await client.feed();
  const own = { actionId: anns, kind: 'LIKE' } as const;
  const first = client.mutations.addInteraction({ input: own });
  const second = client.mutations.removeInteraction({ input: { own } });
  who.is = ben;
  await client.feed().catch(() => undefined);
  expect((await Promise.allSettled([first, second])).map(({ status }) => status)).toEqual([
    'rejected',
    'rejected',
  ]);
  client.close();
});
