import { FeedClientError } from '@fanfare/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { CLIENT_TRANSPORTS, clientOf, startActionWatch, startSliceWatch } from '../support/client-watches.ts';
import { ask, publish } from '../support/feed-api.ts';
import { uniqueName } from '../support/unique-name.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(async () => app[Symbol.asyncDispose]());

test.each(CLIENT_TRANSPORTS)('the client watches slices and threads over %s', async (transport) => {
  const client = await clientOf(app, uniqueName('reader'), { transport });
  const refId = uniqueName('site');
  const refs = [{ id: refId, type: 'site', label: 'Site' }];
  await using slice = startSliceWatch(client, { refId, filter: { types: ['Custom'] } });
  await slice.until(({ resyncs }) => resyncs.length > 0);
  const actionId = await publish(app, { scope: 'PUBLIC', refs });
  await slice.until(({ events }) => events.length > 0);
  await using thread = startActionWatch(client, actionId);
  await thread.until(({ resyncs }) => resyncs.length > 0);
  await ask(
    app,
    'mutation ($input: RecordInteractionInput!) { addInteraction(input: $input) { isReplay } }',
    { input: { actionId, kind: 'COMMENT', text: 'So' } },
    { sub: uniqueName('other') },
  );
  await thread.until(({ events }) => events.length > 1);
  expect(slice.added()).toEqual([actionId]);
  expect(thread.events).toMatchObject([
    { __typename: 'InteractionAdded', interaction: { text: 'So' } },
    { __typename: 'ActionChanged', action: { id: actionId, engagement: { comments: 1 } } },
  ]);
  client.close();
});

test('a watch of what the reader may not see ends with NOT_FOUND', async () => {
  const client = await clientOf(app, uniqueName('reader'));
  const actionId = await publish(app, { scope: 'RESTRICTED', recipients: [uniqueName('other')] });
  await using thread = startActionWatch(client, actionId);
  const error = await thread.ended;
  expect(error).toBeInstanceOf(FeedClientError);
  expect(error).toMatchObject({ code: 'NOT_FOUND' });
  client.close();
});
