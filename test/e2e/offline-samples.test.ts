import * as apollo from '@fanfare/apollo';
import { createFeedClient } from '@fanfare/client';
import * as offline from '@fanfare/client/offline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask, publish } from '../support/feed-api.ts';
import { runSample } from '../support/run-sample.ts';
import { uniqueName } from '../support/unique-name.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(async () => app[Symbol.asyncDispose]());

/** A reader, an action of their feed, and what their browser keeps. */
async function settle() {
  const reader = uniqueName('reader');
  const actionId = await publish(app, { mentions: [reader] });
  await app.idle();
  const kept = new Map<string, unknown>();
  const store: offline.OfflineStore = {
    get: (key) => Promise.resolve(kept.get(key)),
    set: (key, value) => Promise.resolve(void kept.set(key, value)),
    del: (key) => Promise.resolve(void kept.delete(key)),
    keys: () => Promise.resolve([...kept.keys()]),
  };
  const said: unknown[] = [];
  const tell = (...of: unknown[]): void => void said.push(of);
  return {
    ...{ kept, said, actionId },
    modules: {
      '@fanfare/client/offline': offline,
      '@fanfare/apollo': apollo,
      'idb-keyval': store,
    },
    names: {
      ...{ userId: reader, getToken: () => app.token(reader), url: `${app.url}/graphql`, actionId },
      ...{
        createFeedClient,
        tellTheReader: tell,
        showAsPending: tell,
        toast: tell,
        location: { assign: tell },
      },
    },
    likes: async () => {
      const { action } = await ask<{ action: { engagement: { likes: number } } }>(
        app,
        'query ($id: ID!) { action(id: $id) { engagement { likes } } }',
        { id: actionId },
        { sub: reader },
      );
      return action.engagement.likes;
    },
  };
}

type Sample = Readonly<Record<string, (...of: unknown[]) => Promise<void>>>;

test('offline by the client, as its page shows it: a like is sent, and nothing stays after signing out', async () => {
  const { names, modules, likes, kept, said } = await settle();
  const { signOut } = (await runSample('client.md', { names, modules, gives: 'signOut' })) as Sample;
  expect(await likes()).toBe(1);
  expect(kept.size).toBeGreaterThan(0);
  await signOut?.();
  expect([kept.size, said]).toEqual([0, []]);
});

test('offline by Apollo Client, as its page shows it: a like is sent, and kept until then', async () => {
  const { names, modules, likes, said, actionId } = await settle();
  // No page of a browser, in which it could be asked for again.
  const token = await names.getToken();
  const { fanfare } = await runSample('frontends.md', {
    ...{ names, gives: 'fanfare' },
    modules: {
      ...modules,
      '@fanfare/apollo': {
        createFanfare: (options: Parameters<typeof apollo.createFanfare>[0]) =>
          apollo.createFanfare({ ...options, token, url: `${app.url}${options.url}` }),
      },
    },
  });
  const { like, close } = fanfare as ReturnType<typeof apollo.createFanfare>;
  await like(actionId);
  expect(await likes()).toBe(1);
  close();
  expect(said).toEqual([]);
});
